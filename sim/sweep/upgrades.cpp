#include "sim/sweep/upgrades.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// A dense run of the sweep.
struct Run {
  int nodes = 0;
  double bits_per_second = 0;
  std::string bandwidth;
  const Evaluation* forecast = nullptr;
};

/// The row's answer, by the schedule it names.
const Evaluation* answer_of(const SweepPoint& point, const Json& row, const SweepTasks& tasks,
                            const Evaluations& done) {
  for (const ScheduledTasks& one : point.tasks.schedules) {
    if (row.at("schedule") != to_text(one.schedule)) continue;
    const Evaluation& forecast = done.at(tasks.tasks[one.own.answer()].key);
    if (forecast.problem.empty() && forecast.batch > 0) return &forecast;
  }
  return nullptr;
}

/// Flags that the sweep gives several values. Those of compressors do not count: a dense run has
/// none of them.
std::set<std::string> varied_flags(const SweepTasks& tasks) {
  std::map<std::string, std::set<std::string>> values;
  for (const SweepPoint& point : tasks.points)
    for (const auto& [flag, value] : point.settings) values[flag].insert(value);
  std::set<std::string> varied;
  for (const auto& [flag, seen] : values)
    if (seen.size() > 1) varied.insert(flag);
  for (const char* flag : {"model", "compressor", "density", "nodes", "nic-bandwidth"})
    varied.erase(flag);
  return varied;
}

std::string name_of(const SweepPoint& point, const std::set<std::string>& varied) {
  std::string name = point.request.model;
  for (const auto& [flag, value] : point.settings)
    if (varied.contains(flag)) name += ", " + flag + " " + value;
  return name;
}

Upgrade upgrade_of(const std::string& model, bool network, const Run& from, const Run& to) {
  const Evaluation& before = *from.forecast;
  const Evaluation& after = *to.forecast;
  const ForecastDoubt doubt = after.software_doubt();
  const ForecastDoubt others = before.software_doubt();
  Upgrade upgrade;
  upgrade.model = model;
  upgrade.network = network;
  upgrade.from = network ? from.bandwidth : std::to_string(from.nodes);
  upgrade.to = network ? to.bandwidth : std::to_string(to.nodes);
  upgrade.workers = after.ranks;
  upgrade.nic_bandwidth = to.bandwidth;
  upgrade.gain = after.samples_per_second() / before.samples_per_second();
  Verdict verdict = gradcast::verdict_on("the faster network", {after.result.iteration, doubt},
                                         {before.result.iteration, others});
  const double work = upgrade.gain * (after.result.iteration / before.result.iteration);
  if (verdict.speedup)
    upgrade.interval = RatioInterval{work * verdict.speedup->low, work * verdict.speedup->high};
  if (!network) return upgrade;
  verdict.pays = pays_by(verdict.speedup, doubt, others, true, kWorthBuyingSpeedup);
  if (verdict.pays != Pays::CannotBeTold) verdict.measure.clear();
  upgrade.verdict = std::move(verdict);
  return upgrade;
}

/// "1.62x (90 %: 1.31x to 1.90x)"
std::string gain_words(const Upgrade& upgrade) {
  std::string words = fixed(upgrade.gain, 2) + "x";
  if (upgrade.interval)
    words += " (90 %: " + fixed(upgrade.interval->low, 2) + "x to " +
             fixed(upgrade.interval->high, 2) + "x)";
  return words;
}

/// "surely pays for alexnet 1.51x (90 %: 1.26x to 1.88x)", "cannot be told for vgg-16 1.02x and
/// resnet-50 1.02x: measure a dense run"
std::string verdict_part(Pays pays, const std::vector<const Upgrade*>& same) {
  std::vector<std::string> models;
  std::vector<std::string> measures;
  for (const Upgrade* upgrade : same) {
    if (upgrade->verdict->pays != pays) continue;
    models.push_back(upgrade->model + " " +
                     (pays == Pays::Yes ? gain_words(*upgrade) : fixed(upgrade->gain, 2) + "x"));
    const std::string& measure = upgrade->verdict->measure;
    if (!measure.empty() && std::find(measures.begin(), measures.end(), measure) == measures.end())
      measures.push_back(measure);
  }
  if (models.empty()) return "";
  return to_text(pays) + " for " + join(models) +
         (measures.empty() ? "" : ": measure " + join(measures, ", or "));
}

std::string sentence_of(const std::vector<const Upgrade*>& same) {
  const Upgrade& first = *same.front();
  std::vector<std::string> parts;
  if (first.network) {
    for (const Pays pays : {Pays::Yes, Pays::No, Pays::CannotBeTold})
      if (std::string part = verdict_part(pays, same); !part.empty())
        parts.push_back(std::move(part));
    return "Without compression, " + first.to + " instead of " + first.from + " on " +
           std::to_string(first.workers) + " GPUs: " + join(parts, "; ") + ".";
  }
  bool alike = true;  // clusters may have other NICs
  for (const Upgrade* upgrade : same) {
    parts.push_back(upgrade->model + " " + gain_words(*upgrade));
    alike = alike && upgrade->nic_bandwidth == first.nic_bandwidth;
  }
  return "Without compression, " + first.to + " nodes instead of " + first.from +
         (alike ? " at " + first.nic_bandwidth : "") +
         ", in samples a second: " + join(parts, "; ") + ".";
}

}  // namespace

std::vector<Upgrade> upgrades_of(const SweepTasks& tasks, const std::vector<Json>& rows,
                                 const Evaluations& done) {
  const std::set<std::string> varied = varied_flags(tasks);
  std::vector<std::string> order;
  std::map<std::string, std::vector<Run>> runs;
  for (std::size_t i = 0; i < tasks.points.size() && i < rows.size(); ++i) {
    const SweepPoint& point = tasks.points[i];
    if (point.request.compressor != "dense" || point.request.model.empty() || !point.cluster)
      continue;
    const Evaluation* forecast = answer_of(point, rows[i], tasks, done);
    if (forecast == nullptr) continue;
    const std::string name = name_of(point, varied);
    if (!runs.contains(name)) order.push_back(name);
    const auto rate = point.cluster->nic.bandwidth;
    runs[name].push_back({point.cluster->nodes, rate.value, to_text(rate), forecast});
  }
  std::vector<Upgrade> upgrades;
  for (const bool network : {true, false})
    for (const std::string& name : order) {
      std::vector<Run>& all = runs[name];
      const auto most = std::max_element(
          all.begin(), all.end(), [](const Run& a, const Run& b) { return a.nodes < b.nodes; });
      const int most_nodes = most->nodes;
      const double slowest =
          std::min_element(all.begin(), all.end(), [](const Run& a, const Run& b) {
            return a.bits_per_second < b.bits_per_second;
          })->bits_per_second;
      std::vector<Run> line;
      for (const Run& run : all)
        if (network ? run.nodes == most_nodes : run.bits_per_second == slowest) line.push_back(run);
      std::stable_sort(line.begin(), line.end(), [&](const Run& a, const Run& b) {
        return network ? a.bits_per_second < b.bits_per_second : a.nodes < b.nodes;
      });
      for (const Run& run : line)
        if (network ? run.bits_per_second > line.front().bits_per_second
                    : run.nodes > line.front().nodes)
          upgrades.push_back(upgrade_of(name, network, line.front(), run));
    }
  return upgrades;
}

Json upgrades_json(const std::vector<Upgrade>& upgrades) {
  Json list = Json::array();
  for (const Upgrade& upgrade : upgrades) {
    Json row;
    row["model"] = upgrade.model;
    row["change"] = upgrade.network ? "network" : "nodes";
    row["from"] = upgrade.from;
    row["to"] = upgrade.to;
    row["workers"] = upgrade.workers;
    row["nic_bandwidth"] = upgrade.nic_bandwidth;
    row["gain"] = upgrade.gain;
    row["gain_low"] = upgrade.interval ? Json(upgrade.interval->low) : Json();
    row["gain_high"] = upgrade.interval ? Json(upgrade.interval->high) : Json();
    row["verdict"] = upgrade.verdict ? Json(to_text(upgrade.verdict->pays)) : Json();
    row["measure"] = upgrade.verdict ? upgrade.verdict->measure : "";
    list.push_back(std::move(row));
  }
  return list;
}

std::vector<std::string> upgrade_sentences(const std::vector<Upgrade>& upgrades) {
  std::vector<std::string> sentences;
  for (const bool network : {true, false}) {
    // Steps in their order; models may have other sizes, so each step has those that have it.
    std::vector<std::vector<std::string>> order;
    std::map<std::vector<std::string>, std::vector<const Upgrade*>> steps;
    for (const Upgrade& upgrade : upgrades) {
      if (upgrade.network != network) continue;
      const std::vector<std::string> step{upgrade.from, upgrade.to,
                                          std::to_string(upgrade.workers)};
      if (!steps.contains(step)) order.push_back(step);
      steps[step].push_back(&upgrade);
    }
    if (order.empty()) continue;
    if (network && order.size() > 1) sentences.push_back(sentence_of(steps[order.front()]));
    sentences.push_back(sentence_of(steps[order.back()]));
  }
  return sentences;
}

}  // namespace gradcast
