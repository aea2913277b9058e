#include "sim/tta/tta_answer.hpp"

#include <set>

#include "sim/base/error.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/tta/tta_sentences.hpp"

namespace gradcast {
namespace {

void add_said(std::vector<std::string>& said, const std::string& sentence) {
  if (!sentence.empty()) said.push_back(sentence);
}

std::vector<std::string> all_sentences(const TtaFound& found) {
  std::vector<std::string> said;
  for (const TimeToAccuracy& one : found.times)
    add_said(said, compressor_sentence(one, found.setups.name(found.setups.all[one.setup])));
  for (const TimeToAccuracy& one : found.times)
    if (!one.fitted)  // iterations are the same by either estimate
      add_said(said, theorem_sentence(found.setups.all[one.setup], one,
                                      found.setups.name(found.setups.all[one.setup])));
  for (const AccuracyBreakEven& one : found.break_evens)
    add_said(said,
             break_even_sentence(one, found.setups.name(found.setups.all[one.setup]), *found.over));
  for (std::size_t i = 0; i < found.setups.all.size(); ++i) {
    const TrainedSetup& setup = found.setups.all[i];
    add_said(said, traffic_sentence(setup, found.timed[i], found.setups.name(setup)));
  }
  for (const std::string& sentence : doubt_sentences(found.timed)) said.push_back(sentence);
  if (const TrainedSetups& setups = found.setups;
      setups.all.size() > 1 && setups.all[1].setup.dense())
    said.push_back("All are held against the first dense training, " + setups.name(setups.all[0]) +
                   ".");
  if (found.setups.dense() == nullptr)
    said.emplace_back("There is no dense training to hold these against.");
  return said;
}

}  // namespace

TtaFound find_times_to_accuracy(const TtaAsked& asked, const Engine& engine, DataFiles& files) {
  std::vector<TrainingRun> runs;
  for (const std::string& path : asked.trainings)
    for (const TrainingRun& run : read_training(files.read_path(path))) runs.push_back(run);
  TtaFound found{trained_setups(runs), {}, {}};
  if (asked.over && found.setups.dense() == nullptr)
    throw ValueError("--over holds compressors against dense, and no training is of dense");
  if (asked.over && found.setups.all.size() == 1)
    throw ValueError("--over holds compressors against dense, and no training has a compressor");
  const std::vector<double> targets = percent_of(asked.targets, found.setups);
  found.timed = iteration_times(asked, found.setups, engine, files);
  found.times = times_to_accuracy(found.setups, found.timed, targets);
  found.over = asked.over;
  if (asked.over)
    found.break_evens =
        accuracy_break_evens(asked, found.setups, found.timed, targets, engine, files);
  return found;
}

Answer tta_answer(const TtaFound& found, bool curve, Format format) {
  Answer answer;
  answer.rows = time_rows(found);
  const std::vector<std::string> said = all_sentences(found);
  for (const std::string& sentence : said) answer.table += sentence + "\n";
  answer.table += "\n" + time_table(found);
  answer.summary["sentences"] = said;
  if (found.over) {
    answer.table += "\n" + break_even_table(found);
    answer.more["break_evens"] = break_even_rows(found);
    if (format == Format::Csv) answer.rows = break_even_rows(found);
  }
  if (curve) {
    answer.table += "\n" + curve_table(found);
    answer.more["curves"] = curve_rows(found);
    if (format == Format::Csv) answer.rows = curve_rows(found);
  }
  return answer;
}

std::string engines_of(const TtaFound& found) {
  std::set<std::string> engines;
  for (const TimedSetup& timed : found.timed) {
    engines.insert(timed.physics.evaluation.result.engine);
    if (timed.fitted) engines.insert(timed.fitted->evaluation.result.engine);
  }
  engines.erase("");
  return join({engines.begin(), engines.end()});
}

namespace {

std::string estimate_of(bool fitted) { return fitted ? "fitted" : "physics"; }

void put_interval(Json& row, const std::string& name, const std::optional<RatioInterval>& range) {
  row[name + "_low"] = range ? Json(range->low) : Json();
  row[name + "_high"] = range ? Json(range->high) : Json();
}

void put_interval(Json& row, const std::string& name,
                  const std::optional<ForecastInterval>& range) {
  row[name + "_low"] = range ? Json(range->low.count()) : Json();
  row[name + "_high"] = range ? Json(range->high.count()) : Json();
}

void put_ratio(Json& row, const std::string& name, const std::optional<RatioWithInterval>& ratio) {
  row[name] = ratio ? Json(ratio->value) : Json();
  put_interval(row, name, ratio ? ratio->interval : std::nullopt);
}

/// The columns that name a setup, first in all rows.
Json row_of(const TrainingSetup& setup) {
  Json row;
  row["network"] = setup.network;
  row["dataset"] = setup.dataset;
  row["compressor"] = setup.compressor;
  row["mode"] = setup.mode;
  row["density"] = setup.density;
  row["workers"] = setup.workers;
  row["batch"] = setup.batch;
  row["settings"] = setup.settings;
  return row;
}

void put_against_dense(Json& row, const std::optional<AgainstDense>& against) {
  put_ratio(row, "iteration_time_ratio",
            against ? std::optional(against->iteration_time) : std::nullopt);
  put_ratio(row, "iterations_ratio", against ? against->iterations : std::nullopt);
  put_ratio(row, "time_to_accuracy_ratio", against ? against->time : std::nullopt);
  row["needed_iteration_ratio"] = against ? or_null(against->needed_iteration_ratio) : Json();
  row["pays_by_iteration"] = against ? Json(pays_word(against->by_iteration)) : Json();
  row["pays_by_time_to_accuracy"] = against ? Json(pays_word(against->by_time)) : Json();
}

Json row_of(const TtaFound& found, const TimeToAccuracy& one) {
  const TrainedSetup& setup = found.setups.all[one.setup];
  const TimedSetup& timed = found.timed[one.setup];
  const IterationTime& iteration = one.fitted ? *timed.fitted : timed.physics;
  const IterationsNeeded& needed = one.needed;
  const bool any = needed.median.has_value();
  Json row = row_of(setup.setup);
  row["target_percent"] = one.target;
  row["estimate"] = estimate_of(one.fitted);
  row["seeds"] = needed.seeds;
  row["seeds_reached"] = needed.reached;
  row["iterations"] = or_null(needed.median);
  row["iterations_least"] = any ? Json(needed.least) : Json();
  row["iterations_most"] = any ? Json(needed.most) : Json();
  put_interval(row, "iterations", interval_of(needed));
  row["not_within_iterations"] = needed.not_within ? Json(*needed.not_within) : Json();
  row["iteration_seconds"] = one.iteration.count();
  put_interval(row, "iteration_seconds", one.iteration_interval);
  row["time_to_accuracy_seconds"] = needed.complete() ? or_null(one.time) : Json();
  put_interval(row, "time_to_accuracy_seconds", one.interval);
  row["at_least_seconds"] = or_null(one.at_least);
  put_against_dense(row, one.against_dense);
  row["best_accuracy_percent"] = setup.best_percent();
  row["sent_share"] = or_null(setup.sent_share());
  row["iteration_seconds_of_k"] = or_null(one.fitted ? timed.fitted_of_k : timed.physics_of_k);
  row["schedule"] = iteration.schedule;
  row["software"] = one.fitted ? Json(software_of(*timed.contestant.estimates.fitted)) : Json();
  row["costs_fitted"] = one.fitted ? Json(timed.contestant.costs_fitted ? "yes" : "no") : Json();
  row["evidence"] = iteration.evaluation.evidence;
  row["outside"] = iteration.evaluation.outside;
  row["engine"] = iteration.evaluation.result.engine;
  return row;
}

std::string ratio_text(const std::optional<RatioWithInterval>& ratio, bool bound) {
  if (!ratio) return "-";
  return (bound ? ">" : "") + fixed(ratio->value, 2);
}

/// The ends at which nobody knows how much further it goes.
std::string open_ends_of(const Stretch& stretch) {
  if (stretch.low_open && stretch.high_open) return "both";
  return stretch.low_open ? "low" : stretch.high_open ? "high" : "";
}

std::string interval_text_of(const Json& break_even) {
  if (break_even["at_low"].is_null()) return "-";
  const std::string open = value_to_text(break_even["open"]);
  return value_to_text(break_even["at_low"]) + " to " + value_to_text(break_even["at_high"]) +
         (open.empty() ? "" : " (open: " + open + ")");
}

std::string range_text(const std::optional<ForecastInterval>& range) {
  if (!range) return "-";
  return duration_text(range->low) + " to " + duration_text(range->high);
}

}  // namespace

std::vector<Json> time_rows(const TtaFound& found) {
  std::vector<Json> rows;
  for (const TimeToAccuracy& one : found.times) rows.push_back(row_of(found, one));
  return rows;
}

std::string time_table(const TtaFound& found) {
  TextTable table{{"compressor", "target", "estimate", "reached", "iterations", "iteration",
                   "time to accuracy", "90 % interval", "iteration/dense", "iterations/dense",
                   "time/dense", "verdict by iteration", "by time"},
                  {}};
  for (const TimeToAccuracy& one : found.times) {
    const auto& against = one.against_dense;
    const bool bound = !one.needed.complete();
    const std::string time = one.at_least ? ">" + duration_text(*one.at_least)
                                          : duration_text(one.time.value_or(Seconds{0}));
    table.rows.push_back({found.setups.name(found.setups.all[one.setup]),
                          number_to_text(one.target) + " %", estimate_of(one.fitted),
                          one.needed.counted(),
                          one.needed.median ? number_to_text(*one.needed.median)
                                            : ">" + std::to_string(*one.needed.not_within),
                          duration_text(one.iteration), time, range_text(one.interval),
                          against ? fixed(against->iteration_time.value, 2) : "-",
                          against ? ratio_text(against->iterations, bound) : "-",
                          against ? ratio_text(against->time, bound) : "-",
                          against ? to_text(against->by_iteration) : "-",
                          against ? to_text(against->by_time) : "-"});
  }
  return to_text(table);
}

std::vector<Json> break_even_rows(const TtaFound& found) {
  std::vector<Json> rows;
  const auto text = [&](double value) { return Json(value_text(*found.over, value)); };
  for (const AccuracyBreakEven& one : found.break_evens) {
    Json row = row_of(found.setups.all[one.setup].setup);
    row["over"] = to_text(*found.over);
    row["by"] = one.target ? "time to accuracy" : "iteration time";
    row["target_percent"] = or_null(one.target);
    row["estimate"] = estimate_of(one.fitted);
    row["finding"] = !one.pays_at_start   ? "no answer"
                     : !one.roots.empty() ? "root"
                     : *one.pays_at_start ? "pays throughout"
                                          : "never pays";
    for (const char* name : {"at", "at_low", "at_high", "open", "pays"}) row[name] = nullptr;
    row["from"] = text(one.range.from);
    row["to"] = text(one.range.to);
    row["problem"] = one.problem;
    if (one.roots.empty()) rows.push_back(row);
    for (const AccuracyRoot& root : one.roots) {
      row["at"] = text(root.at);
      row["at_low"] = root.interval ? text(root.interval->low) : Json();
      row["at_high"] = root.interval ? text(root.interval->high) : Json();
      row["open"] = root.interval ? Json(open_ends_of(*root.interval)) : Json();
      row["pays"] = root.pays_above ? "above" : "below";
      rows.push_back(row);
    }
  }
  return rows;
}

/// The side of the break-even on which the forecast is faster.
std::string faster_words(const Json& row) {
  const std::string finding = row["finding"];
  if (finding == "root") return row["pays"];
  return finding == "no answer" ? finding : finding == "never pays" ? "never" : "throughout";
}

std::string break_even_table(const TtaFound& found) {
  TextTable table{{"compressor", "by", "target", "estimate", "faster", "at", "90 % interval"}, {}};
  const auto dash = [](const Json& value) {
    const std::string text = value_to_text(value);
    return text.empty() ? "-" : text;
  };
  std::size_t place = 0;
  const std::vector<Json> rows = break_even_rows(found);
  for (const AccuracyBreakEven& one : found.break_evens)
    for (std::size_t i = 0; i < std::max<std::size_t>(1, one.roots.size()); ++i) {
      const Json& row = rows[place++];
      table.rows.push_back({found.setups.name(found.setups.all[one.setup]), dash(row["by"]),
                            dash(row["target_percent"]), dash(row["estimate"]), faster_words(row),
                            dash(row["at"]), interval_text_of(row)});
    }
  return to_text(table);
}

std::vector<Json> curve_rows(const TtaFound& found) {
  std::vector<Json> rows;
  for (const bool fitted : {false, true})
    for (std::size_t i = 0; i < found.setups.all.size(); ++i) {
      if (fitted && !found.timed[i].fitted) continue;
      const Seconds iteration =
          (fitted ? *found.timed[i].fitted : found.timed[i].physics).seconds();
      for (const TrainingRun& run : found.setups.all[i].seeds)
        for (const TestedAccuracy& test : run.tests) {
          Json row = row_of(run.setup);
          row["seed"] = run.seed;
          row["estimate"] = estimate_of(fitted);
          row["iteration"] = test.iteration;
          row["seconds"] = (iteration * static_cast<double>(test.iteration)).count();
          row["test_accuracy_percent"] = test.percent;
          rows.push_back(row);
        }
    }
  return rows;
}

std::string curve_table(const TtaFound& found) {
  TextTable table{{"compressor", "seed", "estimate", "iteration", "time", "accuracy %"}, {}};
  for (const Json& row : curve_rows(found))
    table.rows.push_back({value_to_text(row["compressor"]), value_to_text(row["seed"]),
                          value_to_text(row["estimate"]), value_to_text(row["iteration"]),
                          duration_text(Seconds{row["seconds"].get<double>()}),
                          value_to_text(row["test_accuracy_percent"])});
  return to_text(table);
}

}  // namespace gradcast
