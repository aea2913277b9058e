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

void add_verdict(Json& row, const std::optional<Verdict>& verdict) {
  const bool interval = verdict && verdict->speedup;
  row["verdict"] = verdict ? Json(to_text(verdict->pays)) : Json();
  row["measure"] = verdict ? verdict->measure : "";
  row["speedup_low"] = interval ? Json(verdict->speedup->low) : Json();
  row["speedup_high"] = interval ? Json(verdict->speedup->high) : Json();
  row["pays"] = yes_no_or_null(verdict);
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

/// The columns of the answer, or with a prefix those of physics alone.
void add_speedups(Json& row, const std::string& prefix, const Answers* answers) {
  const Speedups speedups = answers != nullptr ? speedups_of(*answers) : Speedups{};
  const auto add = [&](const char* name, const std::optional<double>& speedup) {
    row[prefix + name] = speedup ? Json(*speedup) : Json();
  };
  add("speedup_over_dense", speedups.same);
  add("speedup_over_best_dense", speedups.best);
  row[prefix + "best_dense"] = answers != nullptr ? answers->best_dense_by : "";
}

/// Physics alone. nullptr: nobody asked for it.
void add_physics(Json& row, const Answers* answers) {
  const bool known = answers != nullptr && answered(answers->own);
  const bool trains = known && answers->own.compute > Seconds{0};
  row["physics_seconds"] = known ? Json(answers->own.result.iteration.count()) : Json();
  row["physics_scaling_efficiency"] = trains ? Json(answers->own.scaling_efficiency()) : Json();
  row["physics_schedule"] = known ? to_text(answers->schedule) : "";
  add_speedups(row, "physics_", answers);
}

std::string problem_of(const Answers& answer, const std::optional<Answers>& physics) {
  if (!answered(answer.own)) {
    const bool by_software = physics && answered(physics->own);
    return (by_software ? "with fitted software: " : "") + answer.own.problem;
  }
  if (!answered(answer.dense)) return "without compression: " + answer.dense.problem;
  if (physics && !answered(physics->own)) return "by physics alone: " + physics->own.problem;
  return "";
}

/// The terms that either run leaves at physics, each once.
std::string outside_seen_of(const Answers& answers) {
  std::vector<std::string> terms = terms_in(answers.own.outside_seen);
  for (const std::string& term : terms_in(answers.opponent().outside_seen))
    if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(term);
  return join(terms, ",");
}

/// `physics`: beside an answer with software, unless --fitted none left it out.
Json row_of(const SweepPlan& plan, const SweepPoint& point, const std::string& key,
            const Answers& answer, const std::optional<Answers>& physics) {
  const bool compressed = compresses(point.request);
  const auto decides = [&](const Speedups& speedups) {
    return plan.against == Against::Best ? speedups.best : speedups.same;
  };
  Json row;
  add_settings(row, plan, point, answer);
  add_times(row, answer.own);
  add_speedups(row, "", &answer);
  const bool alone = point.software.empty();  // the answer is physics alone
  add_physics(row, physics ? &*physics : alone ? &answer : nullptr);
  row["against"] = to_text(plan.against);
  std::optional<Verdict> verdict;
  if (compressed)
    verdict =
        verdict_on(point.request.compressor, answer, plan.against, !physics || point.costs_fitted);
  add_verdict(row, verdict);
  row["software"] = alone ? Json() : Json(point.software);
  row["fitted_costs"] = compressed && physics ? Json(point.costs_fitted ? "yes" : "no") : Json();
  const auto by_answer = decides(speedups_of(answer));
  const auto by_physics = physics ? decides(speedups_of(*physics)) : std::nullopt;
  const bool both = compressed && by_answer && by_physics;
  row["agree"] = both ? Json((*by_answer > 1) == (*by_physics > 1) ? "yes" : "no") : Json();
  const std::optional<ForecastInterval>& interval = answer.own.interval;
  row["interval_low_seconds"] = interval ? Json(interval->low.count()) : Json();
  row["interval_high_seconds"] = interval ? Json(interval->high.count()) : Json();
  row["assumed"] = answer.own.assumed;
  row["outside_seen"] = alone ? "" : outside_seen_of(answer);
  row["evidence"] = answer.own.evidence;
  row["outside"] = answer.own.outside;
  row["engine"] = answer.own.result.engine;
  row["problem"] = problem_of(answer, physics);
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

bool has_software(const Json& row) { return !row.at("software").is_null(); }

/// True if the row has two forecasts: with software, and by physics alone.
bool has_both(const Json& row) {
  const auto has = [&](const char* column) { return !row.at(column).is_null(); };
  return has("software") && has("iteration_seconds") && has("physics_seconds");
}

/// The unit for the times of all rows.
TimeUnit unit_of(const std::vector<Json>& rows) {
  Shortest shortest;
  for (const Json& row : rows)
    for (const char* column : {"iteration_seconds", "physics_seconds"})
      if (const Json& time = row.at(column); !time.is_null())
        shortest.add(Seconds{time.get<double>()});
  return shortest.unit();
}

/// True unless people would read 1.
bool differs_from_one(const Json& speedup) {
  return !speedup.is_null() && shown(speedup, 2) != shown(1, 2);
}

/// The evaluation of a task pair's answer, or of its physics alone.
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
  const bool chooses = std::ranges::any_of(plan.axes, [](const SweepAxis& axis) {
    return axis.flag == "fusion" && std::ranges::find(axis.values, "best") != axis.values.end();
  });
  return plan.against == Against::Best
             ? "Speedup, verdict: over the fastest dense run, whatever its schedule (column "
               "best_dense; --against same: by the row's own).\n" +
                   std::string(chooses ? ""
                                       : "A compressor has its row's schedule: --fusion best lets "
                                         "it choose, as breakeven does.\n")
             : "Speedup, verdict: over the dense run of the same schedule, which need not be the "
               "fastest (--against best).\n";
}

constexpr std::size_t kFewAssumptions = 3;

/// The software and links that rows assume, where they are few.
std::string assumed_lines(const std::vector<Json>& rows) {
  const std::vector<std::string> texts = texts_of(rows, "assumed");
  std::set<std::string> different(texts.begin(), texts.end());
  different.erase("");
  if (different.empty()) return "";
  if (different.size() == 1) return "Assumed: " + *different.begin() + ".\n";
  if (different.size() <= kFewAssumptions) return counted_lines(texts, "Assumed");
  return "Assumed: " + std::to_string(different.size()) +
         " set-ups of software and links (column assumed).\n";
}

/// The legend of the table's columns and marks.
std::string legend(const SweepPlan& plan, const std::vector<Json>& rows) {
  const auto any = [&](auto what) { return std::any_of(rows.begin(), rows.end(), what); };
  std::string text;
  if (any(compares))
    text += opponent_words(plan) + counted_lines(measures_of(rows), "Cannot be told");
  text += assumed_lines(rows) + counted_lines(texts_of(rows, "problem"), "No answer");
  if (any(has_both)) text += "Physics: the same without the costs of software.\n";
  if (any([](const Json& row) { return row.at("outside") != ""; }))
    text += "?  beside a time of physics: its costs lie beyond the cost table (column outside).\n";
  if (any([](const Json& row) {
        const Json& share = row.at("scaling_efficiency");
        return !share.is_null() && share.get<double>() > 1;
      }))
    text +=
        "Efficiency above 100 %: one GPU alone updates all parameters; with sharding each GPU "
        "updates its part only.\n";
  if (memory_varies(plan))
    text += "Memory: of a GPU; with activations if the model's file has them.\n";
  if (any([](const Json& row) { return has_software(row) && row.at("outside_seen") != ""; }))
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
  const AnswerOf by_answer = [&](const TaskPair& pair) -> const Evaluation& {
    return answer(pair.answer());
  };
  for (const SweepPoint& point : tasks.points) {
    const std::vector<ScheduledTasks>& schedules = point.tasks.schedules;
    const bool dense = !compresses(point.request);
    const ChosenAnswers its = chosen(point.tasks, dense, by_answer);
    std::optional<Answers> physics;
    if (schedules.front().own.fitted)
      physics.emplace(chosen(point.tasks, dense, by_physics).answers);
    rows.push_back(row_of(plan, point, tasks.tasks[schedules[its.schedule].own.answer()].key,
                          its.answers, physics));
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
  const bool physics = std::any_of(rows.begin(), rows.end(), has_both);
  const bool memory = memory_varies(plan);
  const TimeUnit unit = unit_of(rows);
  // A run that compresses nothing is its own dense run.
  const bool speedups =
      verdicts || std::any_of(rows.begin(), rows.end(), [&](const Json& row) {
        return differs_from_one(row.at(speedup)) || differs_from_one(row.at("physics_" + speedup));
      });
  const auto header = [&](const std::vector<std::string>& names) {
    table.header.insert(table.header.end(), names.begin(), names.end());
  };
  if (verdicts) header({"verdict"});
  if (speedups) header({"speedup"});
  if (intervals) header({"90 %"});
  header({unit.headed("iteration"), "efficiency %"});
  if (physics) header({unit.headed("physics")});
  if (physics && speedups) header({"physics speedup"});
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
    const auto marked = [&](const char* time, const char* doubt) {
      return shown_time(row.at(time), unit) + (row.at(doubt) == "" ? "" : " ?");
    };
    if (verdicts) line.push_back(compares(row) ? row.at("verdict").get<std::string>() : "-");
    if (speedups) line.push_back(shown(row.at(speedup), 2));
    if (intervals)
      line.push_back(row.at("speedup_low").is_null() ? "-"
                                                     : shown(row.at("speedup_low"), 2) + " to " +
                                                           shown(row.at("speedup_high"), 2));
    line.push_back(marked("iteration_seconds", has_software(row) ? "outside_seen" : "outside"));
    line.push_back(shown(row.at("scaling_efficiency"), 1, 100));
    if (physics) {
      line.push_back(marked("physics_seconds", "outside"));
      if (speedups) line.push_back(shown(row.at("physics_" + speedup), 2));
    }
    if (memory) line.push_back(shown(row.at("memory_bytes"), 2, 1e-9));
    table.rows.push_back(std::move(line));
  }
  return to_text(table) + legend(plan, rows) + sweep_ranking(columns, speedup, rows);
}

}  // namespace gradcast
