// `gradcast compare`: forecast beside measurement beside error.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/answer.hpp"
#include "sim/comparison.hpp"
#include "sim/engine_flag.hpp"
#include "sim/request.hpp"
#include "sim/suspects.hpp"
#include "sim/table.hpp"
#include "sim/text.hpp"

namespace gradcast::commands {
namespace {

/// What the row left to us, as it was chosen: a reader of the answer must not have to guess.
void fill_in_defaults(MeasuredRun& run, const Request& request, const Scenario& scenario,
                      const Plan& plan) {
  run.trace = request.trace_name();
  run.collective = collectives_of(plan);
  if (scenario.cluster.platform_file.empty()) {
    run.nic_bandwidth = to_text(scenario.cluster.nic.bandwidth);
    run.nic_latency = to_text(scenario.cluster.nic.latency);
  }
  if (!scenario.sparse() || plan.buckets.empty()) return;
  run.costs = request.costs;
  run.mode = plan.buckets[0].cost.mode;
}

/// An error that asks for an explanation.
constexpr double kLargeErrorPercent = 10;

ComparedRun forecast(const MeasuredRuns& measured, const MeasuredRun& run, const Engine& engine,
                     bool explain, DataFiles& files) {
  try {
    const Request request = request_of(run);
    const Scenario scenario = make_scenario(request, files);
    const Plan plan = make_plan(scenario);
    ComparedRun compared{
        .run = run,
        .forecast = summarize(plan, engine.run(plan, scenario.cluster, scenario.world))};
    compared.ranks = plan.ranks();
    compared.evidence = evidence_of(plan);
    compared.outside = outside_of(plan);
    fill_in_defaults(compared.run, request, scenario, plan);
    if (!compared.forecast.lost.empty()) throw ValueError(compared.forecast.lost);
    if (explain && std::abs(compared.error_percent()) > kLargeErrorPercent)
      compared.suspects = to_text(suspects_of(scenario, run.iteration));
    return compared;
  } catch (const ValueError& error) {
    throw DataError(measured.path, run.line, error.what());
  } catch (const DataError& error) {  // of a file that the row names
    throw DataError(measured.path, run.line, error.what());
  }
}

/// What runs are grouped by, and shown in a column of its own where they differ in it.
struct Aspect {
  const char* name;
  std::string (*of)(const ComparedRun& compared);
};

constexpr Aspect kCompressor{"algorithm", [](const ComparedRun& c) { return c.run.compressor; }};
constexpr Aspect kAspects[] = {
    {"cluster", [](const ComparedRun& c) { return c.run.cluster; }},
    {"ranks", [](const ComparedRun& c) { return std::to_string(c.ranks); }},
    {"jobs", [](const ComparedRun& c) { return std::to_string(c.run.concurrent_jobs); }},
    {"fusion", [](const ComparedRun& c) { return to_text(c.run.fusion); }},
};

/// In the order of their first row.
std::vector<std::string> values_of(const std::vector<ComparedRun>& runs, const Aspect& aspect) {
  std::vector<std::string> values;
  for (const ComparedRun& run : runs)
    if (std::find(values.begin(), values.end(), aspect.of(run)) == values.end())
      values.push_back(aspect.of(run));
  return values;
}

std::vector<std::string> compressors_of(const std::vector<ComparedRun>& runs) {
  return values_of(runs, kCompressor);
}

/// Of the rows with some value of an aspect, or of all for "".
ErrorSummary summary_of(const std::vector<ComparedRun>& runs, const Aspect& aspect = kCompressor,
                        const std::string& value = "") {
  std::vector<double> errors;
  for (const ComparedRun& run : runs)
    if (value.empty() || aspect.of(run) == value) errors.push_back(run.error_percent());
  return summarize_errors(errors);
}

// ---- for people ----

std::string optional_fixed(const std::optional<double>& value) {
  return value ? fixed(*value, 2) : "-";
}

/// The model, or the bytes of a collective alone.
std::string what_ran(const MeasuredRun& run) {
  return run.payload.count > 0 ? to_text(run.payload) : run.model;
}

/// A collective alone has no efficiency.
std::string efficiency(const MeasuredRun& run, double share) {
  return run.payload.count > 0 ? "-" : fixed(100 * share, 1);
}

/// Where one thing ends and another begins, for the eye.
bool belong_together(const MeasuredRun& a, const MeasuredRun& b) {
  return a.source == b.source && a.model == b.model && a.cluster == b.cluster;
}

std::string rows_table(const std::vector<ComparedRun>& runs) {
  std::vector<Aspect> shown;
  for (const Aspect& aspect : kAspects)
    if (values_of(runs, aspect).size() > 1) shown.push_back(aspect);
  const bool speedups = compressors_of(runs).size() > 1;
  TextTable table{{"model"}, {}};
  for (const Aspect& aspect : shown) table.header.emplace_back(aspect.name);
  for (const char* column : {"algorithm", "compute*", "measured", "forecast", "error %",
                             "unexplained", "eff.% meas", "eff.% fcst"})
    table.header.emplace_back(column);
  if (speedups) table.header.insert(table.header.end(), {"x dense meas", "x dense fcst"});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ComparedRun& run = runs[i];
    if (i > 0 && !belong_together(run.run, runs[i - 1].run)) table.rows.push_back({});
    std::vector<std::string> row{what_ran(run.run)};
    for (const Aspect& aspect : shown) row.push_back(aspect.of(run));
    row.insert(row.end(), {run.run.payload.count > 0 ? run.run.collective : run.run.compressor,
                           fixed(run.run.compute.count(), 4), fixed(run.run.iteration.count(), 3),
                           fixed(run.predicted().count(), 3), with_sign(run.error_percent(), 1),
                           with_sign(run.unexplained().count(), 3),
                           efficiency(run.run, run.measured_efficiency()),
                           efficiency(run.run, run.predicted_efficiency())});
    if (speedups)
      row.insert(row.end(),
                 {optional_fixed(run.measured_speedup), optional_fixed(run.predicted_speedup)});
    table.rows.push_back(std::move(row));
  }
  return to_text(table);
}

/// Rows far off, and what would explain each.
std::string suspects_table(const std::vector<ComparedRun>& runs) {
  TextTable table{
      {"model", "cluster", "jobs", "fusion", "algorithm", "error %", "what alone would explain it"},
      {}};
  for (const ComparedRun& run : runs) {
    if (std::abs(run.error_percent()) <= kLargeErrorPercent) continue;
    const std::string nothing =
        run.error_percent() > 0 ? "- (too slow)" : "none of " + tried_suspects() + " alone";
    table.rows.push_back({what_ran(run.run), run.run.cluster,
                          std::to_string(run.run.concurrent_jobs), to_text(run.run.fusion),
                          run.run.compressor, with_sign(run.error_percent(), 1),
                          run.suspects.empty() ? nothing : run.suspects});
  }
  return table.rows.empty() ? "" : "\n" + to_text(table);
}

/// What a reader must know of the columns.
std::string legend(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> evidence;
  for (const std::string& compressor : compressors_of(runs))
    for (const ComparedRun& run : runs)
      if (run.run.compressor == compressor && !run.evidence.empty()) {
        evidence.push_back(compressor + " " + run.evidence);
        break;
      }
  std::string text =
      "Seconds an iteration. * One iteration of one GPU alone, taken from the measurement: an "
      "input,\n"
      "not a forecast. Unexplained: measured - forecast. Eff.: scaling efficiency, compute over\n"
      "iteration.";
  if (compressors_of(runs).size() > 1) text += " X dense: how many times as fast as the dense run.";
  text += "\n";
  if (!evidence.empty()) text += "The compressors' own time is " + join(evidence) + ".\n";
  return text;
}

std::string summary_table(const std::vector<ComparedRun>& runs) {
  TextTable table{{"error %", "rows", "mean absolute", "median", "p90", "worst", "bias"}, {}};
  const auto add = [&](const std::string& name, const ErrorSummary& errors) {
    table.rows.push_back({name, std::to_string(errors.rows), fixed(errors.mean_absolute, 1),
                          fixed(errors.median_absolute, 1), fixed(errors.p90_absolute, 1),
                          with_sign(errors.worst, 1), with_sign(errors.bias, 1)});
  };
  const auto add_each = [&](const Aspect& aspect) {
    const auto values = values_of(runs, aspect);
    constexpr std::size_t kMostGroups = 5;  // of more, each has too few rows to tell anything
    if (values.size() == 1 || values.size() > kMostGroups) return;
    for (const std::string& value : values)
      add(std::string(aspect.name) + " " + value, summary_of(runs, aspect, value));
    table.rows.push_back({});
  };
  add_each(kCompressor);
  for (const Aspect& aspect : kAspects) add_each(aspect);
  add("overall", summary_of(runs));
  return to_text(table);
}

std::string speedup_table(const std::vector<SpeedupPair>& pairs) {
  TextTable table{{"model", "speedup of", "over", "measured", "forecast"}, {}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const SpeedupPair& pair = pairs[i];
    if (i > 0 && pair.model != pairs[i - 1].model) table.rows.push_back({});
    table.rows.push_back({pair.model, pair.compressor, pair.over, fixed(pair.measured, 2),
                          fixed(pair.predicted, 2)});
  }
  return to_text(table);
}

std::string as_table(const std::string& name, const std::vector<ComparedRun>& runs,
                     const Engine& engine, bool explain) {
  std::string text = "Forecast against measurement: " + name + ", engine " +
                     std::string(engine.name) + "\n\n" + rows_table(runs) + "\n" + legend(runs) +
                     "\n" + summary_table(runs) + (explain ? suspects_table(runs) : "");
  const auto pairs = speedups_of_fastest(runs);
  return pairs.empty() ? text : text + "\n" + speedup_table(pairs);
}

// ---- for programs ----

/// One row, in CSV and in JSON: the measured file's columns, then the forecast's.
Json row_of(const ComparedRun& compared) {
  const auto optional = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  const MeasuredRun& run = compared.run;
  const IterationResult& result = compared.forecast;
  return {{"source", run.source},
          {"model", run.model},
          {"batch", run.batch},
          {"compute_seconds", run.compute.count()},
          {"cluster", run.cluster},
          {"nodes", run.nodes},
          {"gpus_per_node", run.gpus_per_node},
          {"compressor", run.compressor},
          {"density", run.density},
          {"fusion", to_text(run.fusion)},
          {"overlap", run.overlap ? "yes" : "no"},
          {"iteration_seconds", run.iteration.count()},
          {"trace", run.trace},
          {"costs", run.costs},
          {"mode", run.mode},
          {"collective", run.collective},
          {"nic_bandwidth", run.nic_bandwidth},
          {"nic_latency", run.nic_latency},
          {"wire_bytes_per_element", run.wire_bytes_per_element},
          {"wire_messages", run.wire_messages},
          {"payload_bytes", run.payload.count > 0 ? Json(run.payload.count) : Json()},
          {"concurrent_jobs", run.concurrent_jobs},
          {"measured_seconds", run.iteration.count()},
          {"predicted_seconds", compared.predicted().count()},
          {"error_percent", compared.error_percent()},
          {"measured_efficiency", compared.measured_efficiency()},
          {"predicted_efficiency", compared.predicted_efficiency()},
          {"measured_speedup", optional(compared.measured_speedup)},
          {"predicted_speedup", optional(compared.predicted_speedup)},
          {"unexplained_seconds", compared.unexplained().count()},
          {"encode_seconds", result.encode.count()},
          {"communication_seconds", result.communication.count()},
          {"exposed_communication_seconds", result.exposed_communication.count()},
          {"decode_seconds", result.decode.count()},
          {"evidence", compared.evidence},
          {"suspects", compared.suspects},
          {"engine", result.engine}};
}

Json errors_of(const ErrorSummary& errors) {
  return {{"rows", errors.rows},
          {"mean_absolute_error_percent", errors.mean_absolute},
          {"median_absolute_error_percent", errors.median_absolute},
          {"p90_absolute_error_percent", errors.p90_absolute},
          {"worst_error_percent", errors.worst},
          {"bias_percent", errors.bias}};
}

Json summary_json(const std::vector<ComparedRun>& runs) {
  Json summary = errors_of(summary_of(runs));
  for (const std::string& compressor : compressors_of(runs))
    summary["by_compressor"][compressor] = errors_of(summary_of(runs, kCompressor, compressor));
  summary["speedups"] = Json::array();
  for (const SpeedupPair& pair : speedups_of_fastest(runs))
    summary["speedups"].push_back({{"source", pair.source},
                                   {"model", pair.model},
                                   {"compressor", pair.compressor},
                                   {"over", pair.over},
                                   {"measured", pair.measured},
                                   {"predicted", pair.predicted}});
  return summary;
}

/// "20" or "20%"
double parse_max_error(std::string_view text) {
  const std::string_view number = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  try {
    if (const double percent = parse_number(number); percent > 0) return percent;
  } catch (const ValueError&) {
    // said below, with the sign that was typed
  }
  throw ValueError("'" + std::string(text) + "' is not an error above zero, like '20%'");
}

/// Rows that ask a cost table for more than it knows.
void note_outside(const Flags& flags, const std::vector<ComparedRun>& runs) {
  for (const ComparedRun& run : runs)
    if (!run.outside.empty())
      flags.note(run.run.model + " with " + run.run.compressor +
                 ": costs are asked for beyond the cost table (" + run.outside + ")");
}

/// Throws Error (4) when a row's error is larger.
void require_within(double most, const std::vector<ComparedRun>& runs) {
  for (const ComparedRun& run : runs)
    if (std::abs(run.error_percent()) > most)
      throw Error(ExitCode::BeyondMaxError,
                  run.run.source + ", " + what_ran(run.run) + " with " + run.run.compressor +
                      ": error " + with_sign(run.error_percent(), 1) +
                      " %, more than --max-error " + number_to_text(most) + " %");
}

}  // namespace

int compare(int argc, const char* const* argv) {
  Flags flags("compare", "Holds forecasts against measured iteration times, row by row.",
              {"compare", "compare --measured my-runs.csv --format csv -o errors.csv",
               "compare --engine analytic --max-error 70%"});
  flags.add("measured", "a name of `gradcast list`, or a .csv file of your own",
            "measured-shi2019-table2");
  add_engine_flag(flags);
  flags.add_switch("explain",
                   "for each row off by more than 10 %: which property of the cluster alone, at "
                   "which value, would explain it");
  flags.add("max-error", "exit with 4 when a row's error is larger, like 20%");
  if (!flags.parse(argc, argv)) return 0;
  const Engine& engine = chosen_engine(flags);
  const double max_error = flags.given("max-error") ? flags.value("max-error", parse_max_error)
                                                    : std::numeric_limits<double>::infinity();

  DataFiles files = DataFiles::standard();
  const MeasuredRuns measured = load_measured_runs(flags.value(
      "measured", [&](const std::string& name) { return files.read(kMeasuredRuns, name); }));
  std::vector<ComparedRun> runs;
  runs.reserve(measured.runs.size());
  for (const MeasuredRun& run : measured.runs)
    runs.push_back(forecast(measured, run, engine, flags.given("explain"), files));
  add_speedups(runs);

  Answer answer{as_table(flags.text("measured"), runs, engine, flags.given("explain")),
                {},
                summary_json(runs)};
  answer.rows.reserve(runs.size());
  for (const ComparedRun& run : runs) answer.rows.push_back(row_of(run));
  deliver(flags, files.inputs(), engine.name, answer);
  note_engine(flags, engine);
  note_outside(flags, runs);
  require_within(max_error, runs);
  return 0;
}

}  // namespace gradcast::commands
