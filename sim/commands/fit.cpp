// `gradcast fit`: what a cluster and its software cost, estimated from measured runs.
#include <algorithm>
#include <filesystem>
#include <limits>

#include "sim/answer.hpp"
#include "sim/comparison_report.hpp"
#include "sim/comparison_setups.hpp"
#include "sim/engine_flag.hpp"
#include "sim/fit/fit_report.hpp"
#include "sim/fit/fitted_files.hpp"
#include "sim/fit/leave_one_out.hpp"
#include "sim/progress.hpp"
#include "sim/text.hpp"

namespace gradcast::commands {
namespace {

constexpr std::string_view kDefaultStructures = "fit-default";

/// `fit-x` for `measured-x`, where there is one.
std::string structures_for(const std::string& measured, const DataFiles& files) {
  const std::string name = std::filesystem::path(measured).stem().string();
  const std::string own =
      std::string(kFitStructures.prefix) +
      (name.starts_with(kMeasuredRuns.prefix) ? name.substr(kMeasuredRuns.prefix.size()) : name);
  const auto known = files.names(kFitStructures);
  return std::find(known.begin(), known.end(), own) == known.end() ? std::string(kDefaultStructures)
                                                                   : own;
}

ComparedRun compared(const FitRow& row, const Fit& fit, const FitForecast& forecast) {
  const Scenario scenario = with_parameters(row, *fit.structure, fit.values);
  ComparedRun run =
      compare_run(row.run, row.request, scenario, make_plan(scenario), forecast.result);
  run.low = forecast.low;
  run.high = forecast.high;
  run.extrapolated = forecast.extrapolated;
  return run;
}

std::string group_name(const FitRow& row, LeaveOut what) {
  switch (what) {
    case LeaveOut::Row:
      return "line " + std::to_string(row.run.line);
    case LeaveOut::Model:
      return row.run.model;
    case LeaveOut::Source:
      break;
  }
  return row.run.source;
}

/// Errors of what the model claims, in the order of `rows`.
std::vector<double> errors_of(const std::vector<FitRow>& rows, const FitStructure& nothing,
                              const Engine& engine) {
  std::vector<double> errors;
  for (const FitRow& row : rows) {
    const double time = forecasts({&row}, nothing, Eigen::VectorXd(), engine)[0];
    errors.push_back(100 * (time / row.run.iteration.count() - 1));
  }
  return errors;
}

/// Some errors, by row, of those rows alone that groups name: indices and groups begin anew.
struct Claimed {
  std::vector<double> errors;
  std::vector<std::vector<std::size_t>> groups;
};

Claimed claimed_of(const std::vector<double>& errors,
                   const std::vector<std::vector<std::size_t>>& groups) {
  Claimed some;
  for (const auto& group : groups) {
    some.groups.emplace_back();
    for (const std::size_t i : group) {
      some.groups.back().push_back(some.errors.size());
      some.errors.push_back(errors[i]);
    }
  }
  return some;
}

BootstrapInterval bootstrap(const Claimed& claimed, std::uint64_t seed) {
  return bootstrap_mean_absolute(claimed.errors, claimed.groups, seed);
}

FitProgress shown(Progress& progress, const std::string& what) {
  return [&progress, what](std::size_t done, std::size_t) { progress.show(done, what); };
}

void leave_out(FitStudy& study, const std::vector<FitRow>& rows, const FitStructures& structures,
               const FitOptions& options, const Engine& engine, bool nested, bool quiet) {
  const LeaveOut what = *study.left_out;
  const auto groups = groups_of(rows, what);
  {
    Progress progress(std::vector<double>(groups_of(rows, what, true).size(), 1), quiet);
    LeftOut left = leave_one_out(rows, what, *study.structure, options, engine,
                                 shown(progress, "fitting without each " + to_text(what)));
    for (std::size_t i = 0; i < rows.size(); ++i)
      study.rows.push_back(compared(rows[i], left.fits[left.fit_of[i]], left.forecasts[i]));
    study.folds = std::move(left.fits);
    for (const auto& group : groups_of(rows, what, true))
      study.groups.push_back(group_name(rows[group.front()], what));
  }
  std::vector<double> errors;
  for (const ComparedRun& run : study.rows) errors.push_back(run.error_percent());
  study.interval = bootstrap(claimed_of(errors, groups), options.seed);
  const Claimed unfitted = claimed_of(study.unfitted_errors, groups);
  study.unfitted_interval = bootstrap(unfitted, options.seed);
  study.unfitted_errors = unfitted.errors;
  if (!nested || structures.structures.size() < 2 || groups.size() < 3) return;
  Progress progress(std::vector<double>(groups.size() * structures.structures.size(), 1), quiet);
  study.nested = nested_leave_one_out(rows, what, structures.structures, options,
                                      shown(progress, "choosing structures"));
  const Claimed claimed = claimed_of(study.nested->errors_percent, groups);
  study.nested_interval = bootstrap(claimed, options.seed);
  study.nested->errors_percent = claimed.errors;
}

void save(const std::string& folder, const FitStudy& study, const Flags& flags, DataFiles& files) {
  const auto made = fitted_files(study.fit, flags.text("measured"), files);
  if (made.empty()) flags.note("nothing to save: the fit changed no cluster and no cost table");
  for (const FittedFile& file : made) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.path;
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);
    if (failed)
      throw Error(ExitCode::Failure, "cannot make the folder " + path.parent_path().string() +
                                         ": " + failed.message());
    write_text_file(path, file.content);
    flags.note("saved " + path.string());
  }
}

}  // namespace

int fit(int argc, const char* const* argv) {
  Flags flags(
      "fit",
      "Estimates what a cluster and its software cost from measured runs, and says how sure.",
      {"fit --leave-one-out model", "fit --measured my-runs.csv --structures my-structures.csv",
       "fit --measured measured-mg-wfbp-dense --save .  # writes platforms/*-fitted.csv"});
  flags.add("measured", "a name of `gradcast list`, or a .csv file of your own",
            "measured-shi2019-table2");
  flags.add(
      "structures",
      "what may be fitted, with bounds and reasons: a name or a .csv file (default: fit-x for "
      "measured-x, else " +
          std::string(kDefaultStructures) + ")");
  flags.add("structure", "which of them (default: the file's first, the one that is claimed)");
  flags.add("leave-one-out", "forecast each model, row or source by a fit that has not seen it");
  flags.add_switch("claimed-only", "do not try the file's other structures (no nested choice)");
  flags.add("starts", "random starts of each search, beside the structure's own", "10");
  flags.add("seed", "of random starts and bootstraps", "1");
  flags.add("save",
            "a folder to write platforms/<cluster>-fitted.csv and traces/cost-...-fitted.csv in");
  flags.add("max-error", "exit with 4 when a row's error is larger, like 20%");
  flags.add_switch("split", "where each row's time goes");
  add_engine_flag(flags);
  if (!flags.parse(argc, argv)) return 0;
  const Engine& engine = chosen_engine(flags);
  const double max_error = flags.given("max-error") ? flags.value("max-error", parse_max_error)
                                                    : std::numeric_limits<double>::infinity();
  FitStudy study;
  study.measured = flags.text("measured");
  if (flags.given("leave-one-out")) study.left_out = flags.value("leave-one-out", parse_leave_out);
  const auto parse_starts = [](std::string_view text) {
    return text == "0" ? 0 : parse_count_to(1000, text);
  };

  DataFiles files = DataFiles::standard();
  const MeasuredRuns measured = load_measured_runs(flags.value(
      "measured", [&](const std::string& name) { return files.read(kMeasuredRuns, name); }));
  const std::vector<FitRow> rows = fit_rows_of(measured, files);
  const std::string named =
      flags.given("structures") ? flags.text("structures") : structures_for(study.measured, files);
  const FitStructures structures = load_fit_structures(flags.value(
      "structures", [&](const std::string&) { return files.read(kFitStructures, named); }));
  study.structure =
      flags.value("structure", [&](const std::string& name) { return &structures.find(name); });
  study.structures_tried = structures.structures.size();
  for (const FitStructure& structure : structures.structures)
    study.structure_names.push_back(structure.name);
  const FitOptions options{&engine_for_search(rows, engine), flags.value("starts", parse_starts),
                           flags.value("seed", parse_seed)};

  const auto all = claimed(rows);
  if (all.empty())
    throw DataError(measured.path, 0, "no run that the model claims: nothing to fit");
  study.fit = fit_rows(all, *study.structure, options);
  const FitStructure nothing;
  study.unfitted_errors = errors_of(rows, nothing, *options.engine);
  if (study.left_out) {
    flags.value("leave-one-out", [&](const std::string&) {
      leave_out(study, rows, structures, options, engine, !flags.given("claimed-only"),
                flags.quiet());
      return 0;
    });
  } else {
    study.unfitted_errors =
        claimed_of(study.unfitted_errors, groups_of(rows, LeaveOut::Row)).errors;
    for (const FitRow& row : rows)
      study.rows.push_back(
          compared(row, study.fit, forecast(study.fit, row, engine, *options.engine)));
  }
  add_speedups(study.rows);

  Answer answer{fit_table(study) + "\n" +
                    comparison_table(study.rows, {.name = study.measured,
                                                  .engine = std::string(engine.name),
                                                  .explain = false,
                                                  .split = flags.given("split")}),
                {},
                summary_json(study.rows),
                flags.value("seed", parse_seed)};
  add_fit_summary(answer.summary, study);
  for (const ComparedRun& run : study.rows) answer.rows.push_back(row_of(run));
  if (flags.given("save")) save(flags.text("save"), study, flags, files);
  deliver(flags, files.inputs(), engine.name, answer);
  note_engine(flags, engine);
  require_within(max_error, study.rows);
  return 0;
}

}  // namespace gradcast::commands
