#include "sim/sweep/rows.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "kernels/compressor.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/time_unit.hpp"
#include "sim/forecast/verdict.hpp"
#include "sim/sweep/ranking.hpp"

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
  return compressor != nullptr && compressor->family == Family::Sparsifier;
}

bool compresses(const Request& request) {
  const Compressor* compressor = find_compressor(request.compressor);
  return compressor != nullptr && compressor->family != Family::Dense;
}

/// A run by the schedule that was chosen, and the dense runs that it is held against.
struct Answers {
  Schedule schedule;
  const Evaluation& own;
  const Evaluation& dense;         // by the same schedule
  const Evaluation* best_dense;    // nullptr: not asked for
  std::string best_dense_by = "";  // its schedule

  const Evaluation& opponent() const { return best_dense != nullptr ? *best_dense : dense; }
};

/// The efficiency with software, where there is such a forecast.
const Json& shown_efficiency(const Json& row) {
  const Json& fitted = row.at("fitted_scaling_efficiency");
  return fitted.is_null() ? row.at("scaling_efficiency") : fitted;
}

bool answered(const Evaluation& evaluation) { return evaluation.problem.empty(); }

/// The speedup over dense. A collective alone has none, as in `simulate`.
std::optional<double> speedup(const Evaluation& own, const Evaluation& dense) {
  if (!answered(own) || !answered(dense) || own.compute <= Seconds{0}) return std::nullopt;
  return dense.result.iteration / own.result.iteration;
}

/// The verdict on a compressed run; none for dense, and where there is no answer.
std::optional<Verdict> verdict_on(const std::string& compressor, const Answers& answers,
                                  Against against, bool costs_known) {
  const Evaluation& other = against == Against::Best ? answers.opponent() : answers.dense;
  if (!speedup(answers.own, other) || answers.own.ranks == 1) return std::nullopt;
  const ForecastDoubt its_doubt = answers.own.software_doubt();
  const ForecastDoubt others_doubt = other.software_doubt();
  return gradcast::verdict_on(compressor, {answers.own.result.iteration, its_doubt},
                              {other.result.iteration, others_doubt}, costs_known);
}

Json yes_no_or_null(const std::optional<Verdict>& verdict) {
  const std::string word = verdict ? yes_or_no(verdict->pays) : "";
  return word.empty() ? Json() : Json(word);
}

void add_verdict(Json& row, const std::optional<Verdict>& verdict, bool fitted) {
  const bool interval = verdict && verdict->speedup;
  row["verdict"] = verdict ? Json(to_text(verdict->pays)) : Json();
  row["measure"] = verdict ? verdict->measure : "";
  row["speedup_low"] = interval ? Json(verdict->speedup->low) : Json();
  row["speedup_high"] = interval ? Json(verdict->speedup->high) : Json();
  row["pays"] = yes_no_or_null(verdict);
  row["fitted_pays"] = fitted ? yes_no_or_null(verdict) : Json();
}

void add_settings(Json& row, const SweepPlan& plan, const SweepPoint& point,
                  const Answers& answers) {
  const Request& request = point.request;
  const bool known = answered(answers.own);
  row["model"] = request.model;
  const bool trains = known && answers.own.batch > 0;  // not a collective alone
  row["batch"] = trains ? Json(answers.own.batch) : Json();
  row["compressor"] = request.compressor;
  row["density"] = sparse(request) ? request.density : 1.0;
  row["collective"] = known ? answers.own.collective : request.collective;
  const bool best = request.best_schedule;  // the column `schedule` names it
  row["fusion"] = best ? std::string(kBestFusion) : to_text(request.fusion);
  row["overlap"] = best ? Json() : Json(request.overlap ? "yes" : "no");
  row["schedule"] = known ? to_text(answers.schedule) : "";
  row["cluster"] = request.cluster;
  const std::optional<Cluster>& cluster = point.cluster;
  row["nodes"] = cluster ? Json(cluster->nodes) : Json();
  row["gpus_per_node"] = cluster ? Json(cluster->gpus_per_node) : Json();
  row["workers"] = cluster ? Json(cluster->ranks()) : Json();
  row["nic_bandwidth"] = cluster ? Json(to_text(cluster->nic.bandwidth)) : Json();
  for (const SweepAxis& axis : plan.axes) {
    const std::string column = column_of(axis.flag);
    const bool usual = usual_columns().contains(column);
    if (axis.values.size() > 1 && !usual) row[column] = setting(point.settings, axis.flag);
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
  row["memory_bytes"] = trains ? Json(answer.memory.count) : Json();
}

/// Over the dense run of the same schedule, and over the best one.
struct Speedups {
  std::optional<double> same;
  std::optional<double> best;
};

Speedups speedups_of(const Answers& answers) {
  Speedups speedups{speedup(answers.own, answers.dense), std::nullopt};
  if (answers.best_dense != nullptr) speedups.best = speedup(answers.own, *answers.best_dense);
  return speedups;
}

/// The columns of both answers, the fitted one's with a prefix.
void add_speedups(Json& row, const std::string& prefix, const Answers* answers,
                  const Speedups& speedups) {
  const auto add = [&](const char* name, const std::optional<double>& speedup) {
    row[prefix + name] = speedup ? Json(*speedup) : Json();
  };
  add("speedup_over_dense", speedups.same);
  add("speedup_over_best_dense", speedups.best);
  row[prefix + "best_dense"] = answers != nullptr ? answers->best_dense_by : "";
}

void add_fitted(Json& row, const std::optional<Answers>& answers) {
  const Evaluation* fitted = answers ? &answers->own : nullptr;
  const bool known = fitted != nullptr && answered(*fitted);
  const bool trains = known && fitted->compute > Seconds{0};
  const bool interval = known && fitted->interval.has_value();
  row["fitted_iteration_seconds"] = known ? Json(fitted->result.iteration.count()) : Json();
  row["fitted_scaling_efficiency"] = trains ? Json(fitted->scaling_efficiency()) : Json();
  row["fitted_low_seconds"] = interval ? Json(fitted->interval->low.count()) : Json();
  row["fitted_high_seconds"] = interval ? Json(fitted->interval->high.count()) : Json();
  row["fitted_schedule"] = answers ? to_text(answers->schedule) : "";
}

std::string problem_of(const Answers& physics, const std::optional<Answers>& fitted) {
  if (!answered(physics.own)) return physics.own.problem;
  if (!answered(physics.dense)) return "without compression: " + physics.dense.problem;
  if (fitted && !answered(fitted->own)) return "with fitted software: " + fitted->own.problem;
  return "";
}

/// The terms that either run leaves at physics, each once.
std::string outside_seen_of(const Answers& answers) {
  std::vector<std::string> terms = terms_in(answers.own.outside_seen);
  for (const std::string& term : terms_in(answers.opponent().outside_seen))
    if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(term);
  return join(terms, ",");
}

Json row_of(const SweepPlan& plan, const SweepPoint& point, const std::string& key,
            const Answers& physics, const std::optional<Answers>& fitted) {
  const bool compressed = compresses(point.request);
  const auto decides = [&](const Speedups& speedups) {
    return plan.against == Against::Best ? speedups.best : speedups.same;
  };
  Json row;
  add_settings(row, plan, point, physics);
  add_times(row, physics.own);
  const Speedups faster = speedups_of(physics);
  const Speedups fitted_faster = fitted ? speedups_of(*fitted) : Speedups{};
  add_speedups(row, "", &physics, faster);
  add_fitted(row, fitted);
  add_speedups(row, "fitted_", fitted ? &*fitted : nullptr, fitted_faster);
  row["against"] = to_text(plan.against);
  std::optional<Verdict> verdict;
  if (compressed)
    verdict = verdict_on(point.request.compressor, fitted ? *fitted : physics, plan.against,
                         !fitted || point.costs_fitted);
  add_verdict(row, verdict, fitted.has_value());
  row["fitted_costs"] = compressed && fitted ? Json(point.costs_fitted ? "yes" : "no") : Json();
  const auto by_physics = decides(faster);
  const auto by_fit = decides(fitted_faster);
  const bool both = compressed && by_physics && by_fit;
  row["agree"] = both ? Json((*by_physics > 1) == (*by_fit > 1) ? "yes" : "no") : Json();
  const std::optional<ForecastInterval>& interval = physics.own.interval;
  row["interval_low_seconds"] = interval ? Json(interval->low.count()) : Json();
  row["interval_high_seconds"] = interval ? Json(interval->high.count()) : Json();
  row["outside_seen"] = fitted ? outside_seen_of(*fitted) : "";
  row["evidence"] = physics.own.evidence;
  row["outside"] = physics.own.outside;
  row["engine"] = physics.own.result.engine;
  row["problem"] = problem_of(physics, fitted);
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

std::string shown_time(const Json& seconds, const TimeUnit& unit) {
  return seconds.is_null() ? "-" : unit.number(Seconds{seconds.get<double>()});
}

/// The unit for the times of all rows.
TimeUnit unit_of(const std::vector<Json>& rows) {
  Shortest shortest;
  for (const Json& row : rows)
    for (const char* column : {"iteration_seconds", "fitted_iteration_seconds"})
      if (const Json& time = row.at(column); !time.is_null())
        shortest.add(Seconds{time.get<double>()});
  return shortest.unit();
}

/// True unless people would read 1.
bool differs_from_one(const Json& speedup) {
  return !speedup.is_null() && shown(speedup, 2) != shown(1, 2);
}

/// The evaluations of a task pair's physics, or of its fitted half.
using AnswerOf = std::function<const Evaluation&(const TaskPair&)>;

/// The best choice that has an answer; the first if none has. Among dense runs it is the fastest,
/// so that a compressor is never compared with a slower one.
std::size_t best_of(const std::vector<ScheduledTasks>& tasks, bool dense, const AnswerOf& answer) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    const Evaluation& one = answer(tasks[i].own);
    const Evaluation& other = answer(tasks[best].own);
    if (answered(one) > answered(other)) best = i;
    if (!answered(one) || !answered(other)) continue;
    const bool better = dense ? one.result.iteration < other.result.iteration
                              : better_choice(one.result.iteration, one.outside_seen,
                                              other.result.iteration, other.outside_seen);
    if (better) best = i;
  }
  return best;
}

struct ChosenAnswers {
  std::size_t schedule;
  Answers answers;
};

ChosenAnswers chosen(const PointTasks& tasks, bool dense, const AnswerOf& answer) {
  const std::size_t own = best_of(tasks.schedules, dense, answer);
  const ScheduledTasks& its = tasks.schedules[own];
  Answers answers{its.schedule, answer(its.own), answer(its.dense), nullptr};
  if (!tasks.dense.empty()) {
    const ScheduledTasks& best = tasks.dense[best_of(tasks.dense, true, answer)];
    answers.best_dense = &answer(best.own);
    answers.best_dense_by = to_text(best.schedule);
  }
  return {own, answers};
}

/// Whether who keeps what is what the sweep is about.
bool memory_varies(const SweepPlan& plan) {
  static const std::set<std::string> kDeciding = {
      "sharding",       "shard-group",   "unit-size", "prefetch",  "reshard-after-forward",
      "parameter-type", "gradient-type", "optimizer", "recompute", "activation-type"};
  return std::any_of(plan.axes.begin(), plan.axes.end(), [](const SweepAxis& axis) {
    return axis.values.size() > 1 && kDeciding.contains(axis.flag);
  });
}

bool compares(const Json& row) { return !row.at("verdict").is_null(); }

/// "Cannot be told in 3 rows: ..." for each text, the most rows first.
std::string counted_lines(const std::vector<std::string>& texts, const std::string& before) {
  std::map<std::string, std::size_t> counted;
  for (const std::string& text : texts)
    if (!text.empty()) ++counted[text];
  std::vector<std::pair<std::string, std::size_t>> order(counted.begin(), counted.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string lines;
  for (const auto& [text, times] : order)
    lines += before + " in " + std::to_string(times) + (times == 1 ? " row: " : " rows: ") + text +
             ".\n";
  return lines;
}

std::vector<std::string> texts_of(const std::vector<Json>& rows, const char* column) {
  std::vector<std::string> texts;
  for (const Json& row : rows) texts.push_back(row.at(column));
  return texts;
}

/// The measurements that would decide. Many compressors share one wording.
std::vector<std::string> measures_of(const std::vector<Json>& rows) {
  std::set<std::string> compressors;
  for (const Json& row : rows)
    if (row.at("measure") != "") compressors.insert(row.at("compressor"));
  std::vector<std::string> texts = texts_of(rows, "measure");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    const std::string name = rows[i].at("compressor");
    const std::size_t at = texts[i].find(" " + name + " ");
    if (compressors.size() > kFewCompressors && at != std::string::npos)
      texts[i].replace(at + 1, name.size(), "that compressor");
    texts[i] = "measure " + texts[i];
  }
  return texts;
}

/// The dense run that speedups and verdicts are over.
std::string opponent_words(const SweepPlan& plan) {
  return plan.against == Against::Best
             ? "Speedup, verdict: over the fastest dense run, whatever its schedule (column "
               "best_dense; --against same: by the row's own).\n"
             : "Speedup, verdict: over the dense run of the same schedule, which need not be the "
               "fastest (--against best).\n";
}

/// The legend of the table's columns and marks.
std::string legend(const SweepPlan& plan, const std::vector<Json>& rows) {
  const auto any = [&](auto what) { return std::any_of(rows.begin(), rows.end(), what); };
  std::string text;
  if (any(compares))
    text += opponent_words(plan) + counted_lines(measures_of(rows), "Cannot be told");
  text += counted_lines(texts_of(rows, "problem"), "No answer");
  if (any([](const Json& row) { return !row.at("fitted_iteration_seconds").is_null(); }))
    text += "Physics: the same without the costs of software.\n";
  if (any([](const Json& row) { return row.at("outside") != ""; }))
    text += "?  beside a time of physics: its costs lie beyond the cost table (column outside).\n";
  if (any([](const Json& row) {
        const Json& share = shown_efficiency(row);
        return !share.is_null() && share.get<double>() > 1;
      }))
    text +=
        "Efficiency above 100 %: one GPU alone updates all parameters; with sharding each GPU "
        "updates its part only.\n";
  if (memory_varies(plan))
    text += "Memory: of a GPU; with activations if the model's file has them.\n";
  if (any([](const Json& row) { return row.at("outside_seen") != ""; }))
    text +=
        "?  beside an iteration: no data for some software costs here; the forecast omits them "
        "(column outside_seen names them).\n";
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::vector<Json> sweep_rows(const SweepPlan& plan, const SweepTasks& tasks,
                             const Evaluations& done) {
  std::vector<Json> rows;
  rows.reserve(tasks.points.size());
  const auto answer = [&](std::size_t task) -> const Evaluation& {
    return done.at(tasks.tasks[task].key);
  };
  const AnswerOf by_physics = [&](const TaskPair& pair) -> const Evaluation& {
    return answer(pair.physics);
  };
  const AnswerOf by_fit = [&](const TaskPair& pair) -> const Evaluation& {
    return answer(*pair.fitted);
  };
  for (const SweepPoint& point : tasks.points) {
    const std::vector<ScheduledTasks>& schedules = point.tasks.schedules;
    const bool dense = !compresses(point.request);
    const ChosenAnswers physics = chosen(point.tasks, dense, by_physics);
    std::optional<Answers> fitted;
    if (schedules.front().own.fitted) fitted.emplace(chosen(point.tasks, dense, by_fit).answers);
    rows.push_back(row_of(plan, point, tasks.tasks[schedules[physics.schedule].own.physics].key,
                          physics.answers, fitted));
  }
  return rows;
}

Json sweep_summary(const std::vector<Json>& rows) {
  std::size_t without = 0;
  for (const Json& row : rows)
    if (row.at("iteration_seconds").is_null()) ++without;
  return {{"points", rows.size()},
          {"against", rows.front().at("against")},
          {"points_without_answer", without},
          {"pays", count(rows, "pays", "yes")},
          {"fitted_pays", count(rows, "fitted_pays", "yes")},
          {"cannot_be_told", count(rows, "verdict", to_text(Pays::CannotBeTold).c_str())},
          {"disagree", count(rows, "agree", "no")}};
}

std::string sweep_table(const SweepPlan& plan, const std::vector<Json>& rows) {
  const std::string speedup =
      plan.against == Against::Best ? "speedup_over_best_dense" : "speedup_over_dense";
  TextTable table;
  std::vector<std::string> columns;
  for (const SweepAxis& axis : plan.axes) {
    const std::string column = column_of(axis.flag);
    if (axis.values.size() > 1 || column == "model" || column == "compressor") {
      columns.push_back(column);
      table.header.push_back(axis.flag);
    }
  }
  const auto has = [&](const char* column) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Json& row) { return !row.at(column).is_null(); });
  };
  const bool verdicts = has("verdict");
  const bool intervals = has("speedup_low");
  const bool fitted = has("fitted_iteration_seconds");
  const bool memory = memory_varies(plan);
  const TimeUnit unit = unit_of(rows);
  // A run that compresses nothing is its own dense run.
  const bool speedups =
      verdicts || std::any_of(rows.begin(), rows.end(), [&](const Json& row) {
        return differs_from_one(row.at(speedup)) || differs_from_one(row.at("fitted_" + speedup));
      });
  const auto header = [&](const std::vector<std::string>& names) {
    table.header.insert(table.header.end(), names.begin(), names.end());
  };
  if (verdicts) header({"verdict"});
  if (speedups) header({"speedup"});
  if (intervals) header({"90 %"});
  header({unit.headed("iteration"), "efficiency %"});
  if (fitted) header({unit.headed("physics")});
  if (fitted && speedups) header({"physics speedup"});
  if (memory) header({"memory GB"});
  for (const Json& row : rows) {
    std::vector<std::string> line;
    for (const std::string& column : columns)
      line.push_back(row.contains(column) ? value_to_text(row.at(column)) : "");
    if (row.at("iteration_seconds").is_null()) {
      line.emplace_back("no answer");
      line.resize(table.header.size(), "-");
      table.rows.push_back(std::move(line));
      continue;
    }
    const bool by_fit = !row.at("fitted_iteration_seconds").is_null();
    const std::string physics_time =
        shown_time(row.at("iteration_seconds"), unit) + (row.at("outside") == "" ? "" : " ?");
    if (verdicts) line.push_back(compares(row) ? row.at("verdict").get<std::string>() : "-");
    if (speedups) line.push_back(shown(row.at((by_fit ? "fitted_" : "") + speedup), 2));
    if (intervals)
      line.push_back(row.at("speedup_low").is_null() ? "-"
                                                     : shown(row.at("speedup_low"), 2) + " to " +
                                                           shown(row.at("speedup_high"), 2));
    line.push_back(by_fit ? shown_time(row.at("fitted_iteration_seconds"), unit) +
                                (row.at("outside_seen") == "" ? "" : " ?")
                          : physics_time);
    line.push_back(shown(shown_efficiency(row), 1, 100));
    if (fitted) {
      line.push_back(physics_time);
      if (speedups) line.push_back(shown(row.at(speedup), 2));
    }
    if (memory) line.push_back(shown(row.at("memory_bytes"), 2, 1e-9));
    table.rows.push_back(std::move(line));
  }
  return to_text(table) + legend(plan, rows) + sweep_ranking(columns, speedup, rows);
}

}  // namespace gradcast
