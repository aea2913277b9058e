#include "sim/sweep/ranking.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// A compressor at a point.
struct Ranked {
  std::string name;
  double physics = 0;
  double fitted = 0;  // 0: there is none
  bool pays_by_physics = false;
  bool pays_by_fit = false;

  double least() const { return fitted > 0 ? std::min(physics, fitted) : physics; }
};

/// "powersgd 1.12 (1.07)".
std::string told(const Ranked& entry) {
  return entry.name + " " + fixed(entry.physics, 2) +
         (entry.fitted > 0 ? " (" + fixed(entry.fitted, 2) + ")" : "");
}

std::string told(const std::vector<Ranked>& entries) {
  std::vector<std::string> words;
  for (const Ranked& entry : entries) words.push_back(told(entry));
  return words.empty() ? "-" : join(words);
}

std::string folded(const std::vector<Ranked>& entries) {
  if (entries.empty()) return "-";
  return std::to_string(entries.size()) + (entries.size() == 1 ? ": " : ", at best ") +
         told(entries.front());
}

}  // namespace

std::string sweep_ranking(const std::vector<std::string>& columns, const std::string& speedup,
                          const std::vector<Json>& rows) {
  std::vector<std::string> settings;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(settings),
               [](const std::string& column) { return column != "compressor"; });
  std::vector<std::vector<std::string>> order;
  std::map<std::vector<std::string>, std::vector<Ranked>> points;
  for (const Json& row : rows) {
    if (row.at("pays").is_null() || row.at(speedup).is_null()) continue;
    std::vector<std::string> point;
    for (const std::string& column : settings)
      point.push_back(row.contains(column) ? value_to_text(row.at(column)) : "");
    if (!points.contains(point)) order.push_back(point);
    const Json& fitted = row.at("fitted_" + speedup);
    points[point].push_back({row.at("compressor").get<std::string>(), row.at(speedup).get<double>(),
                             fitted.is_null() ? 0 : fitted.get<double>(), row.at("pays") == "yes",
                             row.at("fitted_pays") == "yes"});
  }
  TextTable table;
  table.header = settings;
  const bool two_answers = std::any_of(rows.begin(), rows.end(), [&](const Json& row) {
    return !row.at("fitted_" + speedup).is_null();
  });
  const std::vector<std::string> two{"pays by both", "by one of the two", "by neither"};
  const std::vector<std::string> one_answer{"pays", "does not"};
  table.header.insert(table.header.end(), two_answers ? two.begin() : one_answer.begin(),
                      two_answers ? two.end() : one_answer.end());
  for (const auto& point : order) {
    std::vector<Ranked>& entries = points[point];
    if (entries.size() <= kFewCompressors) continue;
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Ranked& a, const Ranked& b) { return a.least() > b.least(); });
    std::vector<Ranked> both;
    std::vector<Ranked> one;
    std::vector<Ranked> neither;
    for (const Ranked& entry : entries) {
      const bool by_fit = entry.fitted > 0 ? entry.pays_by_fit : entry.pays_by_physics;
      if (entry.pays_by_physics && by_fit)
        both.push_back(entry);
      else
        (entry.pays_by_physics || by_fit ? one : neither).push_back(entry);
    }
    std::vector<std::string> line = point;
    line.push_back(told(both));
    if (two_answers) line.push_back(told(one));
    line.push_back(folded(neither));
    table.rows.push_back(std::move(line));
  }
  if (table.rows.empty()) return "";
  const std::string by = two_answers ? "the smaller of their speedups: by physics alone, and (with "
                                       "fitted software)"
                                     : "their speedups, by physics alone";
  return "\nCompressors beside the dense run, by " + by + ".\n\n" + to_text(table);
}

}  // namespace gradcast
