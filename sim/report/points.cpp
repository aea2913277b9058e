#include "sim/report/points.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// The columns that a sweep may vary besides model, compressor, density, workers and bandwidth:
/// every other column before the numbers. Nodes and GPUs per node make the workers; GPUs per node
/// distinguish points with as many workers.
std::vector<std::string> further_columns(const std::vector<Json>& rows) {
  static const std::set<std::string> kDrawn = {"model", "compressor", "density",      "collective",
                                               "nodes", "workers",    "nic_bandwidth"};
  // These columns are answers, not questions.
  static const std::set<std::string> kAnswers = {
      "pays",    "software", "fitted_costs",     "agree",       "evidence",
      "outside", "engine",   "problem",          "key",         "outside_seen",
      "assumed", "schedule", "physics_schedule", "best_dense",  "physics_best_dense",
      "against", "verdict",  "measure",          "speedup_low", "speedup_high"};
  std::vector<std::string> columns;
  if (rows.empty()) return columns;
  for (const auto& [name, value] : rows.front().items()) {
    const bool number = name.ends_with("_seconds") || name.ends_with("_bytes") ||
                        name.ends_with("_per_second") || name.ends_with("_efficiency") ||
                        name.ends_with("_over_dense") || name.ends_with("_over_best_dense");
    if (!number && !kDrawn.contains(name) && !kAnswers.contains(name)) columns.push_back(name);
  }
  return columns;
}

/// Columns in which one compressor has several values. A column that changes with the compressor
/// only (dense has a collective of its own) is not varied.
std::set<std::string> varied(const std::vector<Json>& rows,
                             const std::vector<std::string>& columns) {
  std::set<std::string> found;
  for (const std::string& column : columns) {
    std::map<std::string, std::set<std::string>> values;
    for (const Json& row : rows) {
      auto& seen = values[text_of(row, "compressor")];
      seen.insert(text_of(row, column));
      if (seen.size() > 1) {
        found.insert(column);
        break;
      }
    }
  }
  return found;
}

std::string words_of(std::string column) {
  std::replace(column.begin(), column.end(), '_', ' ');
  return column;
}

/// True if a compressor runs by several collectives in one setting: the sweep asked for them. Where
/// the software chooses by size, each setting has one.
bool compares_collectives(const std::vector<Json>& rows, const std::vector<std::string>& columns) {
  std::map<std::string, std::string> known;
  for (const Json& row : rows) {
    std::string setting;
    for (const char* column : {"model", "compressor", "density", "nodes", "nic_bandwidth"})
      setting += text_of(row, column) + "\n";
    for (const std::string& column : columns) setting += text_of(row, column) + "\n";
    const std::string collective = text_of(row, "collective");
    if (known.try_emplace(setting, collective).first->second != collective) return true;
  }
  return false;
}

/// The speedup that decides.
std::optional<double> speedup_in(const Json& row, const std::string& prefix) {
  const bool best = text_of(row, "against") == "best";
  return positive_of(row, prefix + (best ? "speedup_over_best_dense" : "speedup_over_dense"));
}

}  // namespace

double bits_per_second_of(const std::string& bandwidth) {
  try {
    return 8 * parse_rate(bandwidth).value;
  } catch (const ValueError&) {
    return 0;
  }
}

std::vector<std::pair<std::string, double>> parts_of(const Json& row) {
  std::vector<std::pair<std::string, double>> parts;
  for (const char* part : {"forward", "backward", "encode", "exposed_communication", "decode",
                           "update", "overhead", "wait"})
    if (const auto seconds = positive_of(row, std::string(part) + "_seconds"))
      parts.emplace_back(words_of(part), *seconds);
  return parts;
}

double AnsweredPoint::seconds_held(Estimate AnsweredPoint::*which) const {
  const Estimate& estimate = this->*which;
  return dense() ? *estimate.seconds * *estimate.speedup : *estimate.seconds;
}

std::vector<AnsweredPoint> points_of(const ResultFile& sweep) {
  const std::vector<std::string> columns = further_columns(sweep.rows);
  const std::set<std::string> others = varied(sweep.rows, columns);
  const bool collectives = compares_collectives(sweep.rows, columns);
  // A compressor without fitted runs would win over one with them by what is not known about it.
  const bool some_fitted = std::any_of(sweep.rows.begin(), sweep.rows.end(), [](const Json& row) {
    return text_of(row, "fitted_costs") == "yes";
  });
  std::vector<AnsweredPoint> points;
  for (const Json& row : sweep.rows) {
    if (!positive_of(row, "iteration_seconds")) continue;
    AnsweredPoint point;
    point.physics = {positive_of(row, "physics_seconds"),
                     positive_of(row, "physics_scaling_efficiency"), speedup_in(row, "physics_"),
                     std::nullopt, std::nullopt};
    point.against_best = text_of(row, "against") == "best";
    if (!text_of(row, "software").empty())
      point.fitted = {positive_of(row, "iteration_seconds"), positive_of(row, "scaling_efficiency"),
                      speedup_in(row, ""), positive_of(row, "interval_low_seconds"),
                      positive_of(row, "interval_high_seconds")};
    point.left_out = some_fitted && text_of(row, "fitted_costs") == "no";
    if (point.left_out) point.fitted = {};
    point.model = text_of(row, "model");
    point.compressor = text_of(row, "compressor");
    if (collectives) point.compressor += " (" + text_of(row, "collective") + ")";
    point.bandwidth = text_of(row, "nic_bandwidth");
    point.bits_per_second = bits_per_second_of(point.bandwidth);
    point.workers = positive_of(row, "workers").value_or(1);
    point.density = positive_of(row, "density").value_or(1);
    point.verdict = pays_in(text_of(row, "verdict"));
    point.measure = text_of(row, "measure");
    point.speedup_low = number_of(row, "speedup_low");
    point.speedup_high = number_of(row, "speedup_high");
    std::vector<std::string> words;
    for (const std::string& column : columns)
      if (others.contains(column)) words.push_back(words_of(column) + " " + text_of(row, column));
    point.others = join(words);
    point.parts = parts_of(row);
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<std::string> distinct(const std::vector<AnsweredPoint>& points,
                                  const std::function<std::string(const AnsweredPoint&)>& of) {
  std::vector<std::string> words;
  std::set<std::string> seen;
  for (const AnsweredPoint& point : points)
    if (const std::string word = of(point); seen.insert(word).second) words.push_back(word);
  return words;
}

std::vector<PointGroup> groups_of(const std::vector<AnsweredPoint>& points) {
  const bool bandwidths =
      distinct(points, [](const AnsweredPoint& point) { return point.bandwidth; }).size() > 1;
  std::vector<PointGroup> groups;
  std::map<std::string, std::size_t> known;
  for (const AnsweredPoint& point : points) {
    std::string title = point.model;
    if (bandwidths) title += ", " + point.bandwidth;
    if (!point.others.empty()) title += ", " + point.others;
    const auto [found, fresh] = known.try_emplace(title, groups.size());
    if (fresh) groups.push_back({title, {}});
    groups[found->second].points.push_back(&point);
  }
  return groups;
}

double shown_density(const std::vector<AnsweredPoint>& points) {
  std::set<double> densities;
  for (const AnsweredPoint& point : points)
    if (!point.dense()) densities.insert(point.density);
  if (densities.empty()) return 0;
  if (densities.contains(0.001)) return 0.001;
  return *std::next(densities.begin(), static_cast<std::ptrdiff_t>((densities.size() - 1) / 2));
}

std::vector<AnsweredPoint> at_density(const std::vector<AnsweredPoint>& points, double density) {
  std::vector<AnsweredPoint> chosen;
  for (const AnsweredPoint& point : points)  // casts and quantisers send all elements
    if (point.dense() || point.density == density || point.density == 1) chosen.push_back(point);
  return chosen;
}

double largest_common_workers(const std::vector<AnsweredPoint>& points) {
  std::map<std::string, std::set<double>> of_setup;
  double largest = 0;
  for (const AnsweredPoint& point : points) {
    of_setup[point.model + "\n" + point.compressor + "\n" + point.bandwidth].insert(point.workers);
    largest = std::max(largest, point.workers);
  }
  if (of_setup.empty()) return 0;
  for (auto size = of_setup.begin()->second.rbegin(); size != of_setup.begin()->second.rend();
       ++size)
    if (std::all_of(of_setup.begin(), of_setup.end(),
                    [&](const auto& setup) { return setup.second.contains(*size); }))
      return *size;
  return largest;
}

}  // namespace gradcast
