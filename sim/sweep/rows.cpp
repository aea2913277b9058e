#include "sim/sweep/rows.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/compressor.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

std::string column_of(std::string flag) {
  std::replace(flag.begin(), flag.end(), '-', '_');
  return flag;
}

/// Columns that every row has; a further flag has one where it takes several values.
const std::set<std::string>& usual_columns() {
  static const std::set<std::string> kColumns = {
      "model",   "batch",   "compressor", "density",       "collective",   "fusion",
      "overlap", "cluster", "nodes",      "gpus_per_node", "nic_bandwidth"};
  return kColumns;
}

std::string setting(const SweepSettings& settings, const std::string& flag) {
  for (const auto& [name, value] : settings)
    if (name == flag) return value;
  return "";
}

bool sparse(const Request& request) {
  const Compressor* compressor = find_compressor(request.compressor);
  return compressor != nullptr && compressor->aggregation == Aggregation::AllGather;
}

/// A point's answers, by their tasks.
struct Answers {
  const Evaluation& physics;
  const Evaluation& dense;
  const Evaluation* fitted;
  const Evaluation* fitted_dense;
};

bool answered(const Evaluation& evaluation) { return evaluation.problem.empty(); }

/// The speedup over dense. A collective alone has none, as in `simulate`.
std::optional<double> speedup(const Evaluation& own, const Evaluation& dense) {
  if (!answered(own) || !answered(dense) || own.compute <= Seconds{0}) return std::nullopt;
  return dense.result.iteration / own.result.iteration;
}

Json pays(bool compresses, const std::optional<double>& speedup) {
  if (!compresses || !speedup) return nullptr;
  return *speedup > 1 ? "yes" : "no";
}

void add_settings(Json& row, const SweepPlan& plan, const SweepPoint& point,
                  const Answers& answers) {
  const Request& request = point.request;
  const bool known = answered(answers.physics);
  row["model"] = request.model;
  const bool trains = known && answers.physics.batch > 0;  // not a collective alone
  row["batch"] = trains ? Json(answers.physics.batch) : Json();
  row["compressor"] = request.compressor;
  row["density"] = sparse(request) ? request.density : 1.0;
  row["collective"] = known ? answers.physics.collective : request.collective;
  row["fusion"] = to_text(request.fusion);
  row["overlap"] = request.overlap ? "yes" : "no";
  row["cluster"] = request.cluster;
  const std::optional<Cluster>& cluster = point.cluster;
  row["nodes"] = cluster ? Json(cluster->nodes) : Json();
  row["gpus_per_node"] = cluster ? Json(cluster->gpus_per_node) : Json();
  row["workers"] = cluster ? Json(cluster->ranks()) : Json();
  row["nic_bandwidth"] = cluster ? Json(to_text(cluster->nic.bandwidth)) : Json();
  for (const SweepAxis& axis : plan.axes) {
    const std::string column = column_of(axis.flag);
    if (axis.values.size() > 1 && !usual_columns().contains(column))
      row[column] = setting(point.settings, axis.flag);
  }
}

void add_times(Json& row, const Evaluation& answer) {
  const bool known = answered(answer);
  const IterationResult& result = answer.result;
  const auto add = [&](const char* name, Seconds time) {
    row[name] = known ? Json(time.count()) : Json();
  };
  add("iteration_seconds", result.iteration);
  add("forward_seconds", result.forward);
  add("backward_seconds", result.backward);
  add("encode_seconds", result.encode);
  add("communication_seconds", result.communication);
  add("exposed_communication_seconds", result.exposed_communication);
  add("decode_seconds", result.decode);
  add("update_seconds", result.update);
  add("overhead_seconds", result.overhead);
  add("wait_seconds", result.wait);
  const bool trains = known && answer.compute > Seconds{0};
  row["samples_per_second"] = trains ? Json(answer.samples_per_second()) : Json();
  row["scaling_efficiency"] = trains ? Json(answer.scaling_efficiency()) : Json();
}

void add_fitted(Json& row, const Answers& answers, const std::optional<double>& faster) {
  const Evaluation* fitted = answers.fitted;
  const bool known = fitted != nullptr && answered(*fitted);
  const bool trains = known && fitted->compute > Seconds{0};
  const bool interval = known && fitted->interval.has_value();
  row["fitted_iteration_seconds"] = known ? Json(fitted->result.iteration.count()) : Json();
  row["fitted_scaling_efficiency"] = trains ? Json(fitted->scaling_efficiency()) : Json();
  row["fitted_speedup_over_dense"] = faster ? Json(*faster) : Json();
  row["fitted_low_seconds"] = interval ? Json(fitted->interval->low.count()) : Json();
  row["fitted_high_seconds"] = interval ? Json(fitted->interval->high.count()) : Json();
}

std::string problem_of(const Answers& answers) {
  if (!answered(answers.physics)) return answers.physics.problem;
  if (!answered(answers.dense)) return "without compression: " + answers.dense.problem;
  if (answers.fitted != nullptr && !answered(*answers.fitted))
    return "with fitted software: " + answers.fitted->problem;
  return "";
}

Json row_of(const SweepPlan& plan, const SweepPoint& point, const std::string& key,
            const Answers& answers) {
  const bool compresses = sparse(point.request);
  Json row;
  add_settings(row, plan, point, answers);
  add_times(row, answers.physics);
  const std::optional<double> faster = speedup(answers.physics, answers.dense);
  std::optional<double> fitted_faster;
  if (answers.fitted != nullptr) fitted_faster = speedup(*answers.fitted, *answers.fitted_dense);
  row["speedup_over_dense"] = faster ? Json(*faster) : Json();
  add_fitted(row, answers, fitted_faster);
  row["pays"] = pays(compresses, faster);
  row["fitted_pays"] = pays(compresses, fitted_faster);
  row["fitted_costs"] =
      compresses && answers.fitted != nullptr ? Json(point.costs_fitted ? "yes" : "no") : Json();
  const bool both = !row["pays"].is_null() && !row["fitted_pays"].is_null();
  row["agree"] = both ? Json(row["pays"] == row["fitted_pays"] ? "yes" : "no") : Json();
  const std::optional<ForecastInterval>& interval = answers.physics.interval;
  row["interval_low_seconds"] = interval ? Json(interval->low.count()) : Json();
  row["interval_high_seconds"] = interval ? Json(interval->high.count()) : Json();
  row["outside_seen"] = answers.fitted != nullptr ? answers.fitted->outside_seen : "";
  row["evidence"] = answers.physics.evidence;
  row["outside"] = answers.physics.outside;
  row["engine"] = answers.physics.result.engine;
  row["problem"] = problem_of(answers);
  row["key"] = key;
  return row;
}

std::size_t count(const std::vector<Json>& rows, const char* column, const char* value) {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const Json& row) { return row.at(column) == value; }));
}

/// A number as people read it, "-" for none.
std::string shown(const Json& value, int digits, double factor = 1) {
  return value.is_null() ? "-" : fixed(value.get<double>() * factor, digits);
}

}  // namespace

std::vector<Json> sweep_rows(const SweepPlan& plan, const SweepTasks& tasks,
                             const Evaluations& done) {
  std::vector<Json> rows;
  rows.reserve(tasks.points.size());
  const auto answer = [&](std::size_t task) -> const Evaluation& {
    return done.at(tasks.tasks[task].key);
  };
  for (const SweepPoint& point : tasks.points) {
    const PointTasks& its = point.tasks;
    rows.push_back(
        row_of(plan, point, tasks.tasks[its.physics].key,
               {answer(its.physics), answer(its.dense), its.fitted ? &answer(*its.fitted) : nullptr,
                its.fitted ? &answer(*its.fitted_dense) : nullptr}));
  }
  return rows;
}

Json sweep_summary(const std::vector<Json>& rows) {
  std::size_t without = 0;
  for (const Json& row : rows)
    if (row.at("iteration_seconds").is_null()) ++without;
  return {{"points", rows.size()},
          {"points_without_answer", without},
          {"pays", count(rows, "pays", "yes")},
          {"fitted_pays", count(rows, "fitted_pays", "yes")},
          {"disagree", count(rows, "agree", "no")}};
}

std::string sweep_table(const SweepPlan& plan, const std::vector<Json>& rows) {
  TextTable table;
  std::vector<std::string> columns;
  for (const SweepAxis& axis : plan.axes) {
    const std::string column = column_of(axis.flag);
    if (axis.values.size() > 1 || column == "model" || column == "compressor") {
      columns.push_back(column);
      table.header.push_back(axis.flag);
    }
  }
  for (const char* name :
       {"iteration s", "efficiency %", "speedup", "fitted s", "fitted speedup", "pays"})
    table.header.emplace_back(name);
  for (const Json& row : rows) {
    std::vector<std::string> line;
    for (const std::string& column : columns)
      line.push_back(row.contains(column) ? value_to_text(row.at(column)) : "");
    if (row.at("iteration_seconds").is_null()) {
      for (int i = 0; i < 5; ++i) line.emplace_back("-");
      line.push_back("no answer: " + row.at("problem").get<std::string>());
    } else {
      line.push_back(shown(row.at("iteration_seconds"), 4));
      line.push_back(shown(row.at("scaling_efficiency"), 1, 100));
      line.push_back(shown(row.at("speedup_over_dense"), 2));
      line.push_back(shown(row.at("fitted_iteration_seconds"), 4) +
                     (row.at("outside_seen") == "" ? "" : " ?"));
      line.push_back(shown(row.at("fitted_speedup_over_dense"), 2));
      const Json& pays = row.at("pays");
      line.push_back(pays.is_null()            ? "-"
                     : row.at("agree") == "no" ? pays.get<std::string>() + ", fitted " +
                                                     row.at("fitted_pays").get<std::string>()
                                               : pays.get<std::string>());
    }
    table.rows.push_back(std::move(line));
  }
  return to_text(table);
}

}  // namespace gradcast
