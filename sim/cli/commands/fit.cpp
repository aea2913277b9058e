// `gradcast fit`: estimates the costs of a cluster and its software from measured runs.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "sim/answers/answer.hpp"
#include "sim/base/error.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/progress.hpp"
#include "sim/cli/commands/fit/save.hpp"
#include "sim/cli/commands/fit/stacks.hpp"
#include "sim/compare/report.hpp"
#include "sim/fit/fit_report.hpp"
#include "sim/fit/fitted_files.hpp"
#include "sim/fit/fitted_stack.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/flags.hpp"

namespace gradcast::commands {
namespace {

void save(const FitStudy& study, const Flags& flags, DataFiles& files) {
  auto made = flags.value("save", [&](const std::string&) {
    return fitted_files(study.fit, flags.text("measured"), files);
  });
  if (const auto stack = fitted_stack(study.fit, flags.text("measured")))
    made.push_back(*stack);
  else if (!made.empty())
    flags.note("no stack is saved: what was fitted of software is of some clusters only");
  if (made.empty()) flags.note("nothing to save: the fit changed no cluster and no cost table");
  save_files(flags, made);
}

/// Reports the missing part of an interrupted leave-one-out.
std::string interrupted_text(const FitStudy& study) {
  const std::size_t done = study.folds.size();
  if (study.folds_missing == 0)
    return "interrupted: all folds are done; the choice among structures is missing";
  return "interrupted: " + std::to_string(done) + " of " +
         std::to_string(done + study.folds_missing) + " folds done; the others are missing";
}

/// Notes a value that no run has, because that is mostly a typing error.
void note_idle_scopes(const Flags& flags, const FitStructure& structure,
                      const std::vector<FitRow>& rows) {
  for (const FitParameter& parameter : structure.parameters)
    for (const FitScope::Condition& condition : parameter.scope.conditions)
      for (const std::string& value : condition.values) {
        const FitScope alone{{{condition.column, {value}}}};
        const auto has = [&](const FitRow& row) { return alone.holds(row.run); };
        if (std::none_of(rows.begin(), rows.end(), has))
          flags.note("structure " + structure.name + ": no run has the " + condition.column + " '" +
                     value + "'");
      }
}

}  // namespace

int fit(int argc, const char* const* argv) {
  Flags flags(
      "fit", "Estimates what a cluster and its software cost from measured runs, with intervals.",
      {"fit --leave-one-out model", "fit --measured my-runs.csv --structures my-structures.csv",
       "fit --measured measured-mg-wfbp-dense --save .  # writes platforms/*-fitted.csv"});
  flags.add("measured", "a name of `gradcast list`, or a .csv file of your own",
            "measured-shi2019-table2");
  flags.add("structures",
            "file that says what may be fitted, with bounds and reasons: a name or a .csv file "
            "(default: fit-x for measured-x, else fit-default)");
  flags.add("structure", "the structure to fit (default: the first of the file)");
  flags.add("leave-one-out",
            "model, row, source, method (a compressor at a density) or trace (of a model at "
            "several lengths of a sequence): forecast each by a fit that "
            "has not seen it");
  flags.add_switch("stacks",
                   "estimate what software stacks cost, from all groups of traces/stack-groups.csv "
                   "at once; with --leave-one-out source each group is forecast by the others");
  flags.add_switch("claimed-only",
                   "fit one structure only; do not try the others of the file (no nested choice)");
  flags.add("starts", "number of random starts of each search, beside the structure's own start",
            "10");
  flags.add("seed", "seed of random starts and bootstraps, or of the Markov chain of --stacks",
            "1");
  flags.add_written(
      "save", Writes::Folder,
      "a folder: write platforms/<cluster>-fitted.csv, traces/cost-...-fitted.csv and the software "
      "alone, platforms/stack-<measured>.csv, into it; of --stacks, platforms/stack-<name>.csv");
  flags.add("max-error", "exit with 4 when a row's error is larger, like 20%");
  add_jobs_flag(flags);
  flags.add_switch("split", "show where each row's time goes");
  add_engine_flag(flags);
  if (!flags.parse(argc, argv)) return 0;
  if (flags.given("stacks")) {
    DataFiles files = DataFiles::standard();
    return fit_stacks(flags, files);
  }
  const Engine& engine = chosen_engine(flags);
  const double max_error = flags.given("max-error") ? flags.value("max-error", parse_max_error)
                                                    : std::numeric_limits<double>::infinity();
  const auto parse_starts = [](std::string_view text) {
    return text == "0" ? 0 : parse_count_to(1000, text);
  };
  StudyOptions options;
  options.engine = &engine;
  options.nested = !flags.given("claimed-only");
  options.search.random_starts = flags.value("starts", parse_starts);
  options.search.seed = flags.value("seed", parse_seed);
  if (flags.given("leave-one-out"))
    options.left_out = flags.value("leave-one-out", parse_leave_out);

  DataFiles files = DataFiles::standard();
  const std::string name = flags.text("measured");
  const MeasuredRuns measured = load_measured_runs(flags.value(
      "measured", [&](const std::string& typed) { return files.read(kMeasuredRuns, typed); }));
  const std::vector<FitRow> rows = fit_rows_of(measured, files);
  const std::string structures_name =
      flags.given("structures") ? flags.text("structures") : structures_for(name, files);
  const FitStructures structures = for_runs(
      load_fit_structures(flags.value(
          "structures", [&](const auto&) { return files.read(kFitStructures, structures_name); })),
      measured.runs);
  const FitStructure* structure =
      flags.value("structure", [&](const std::string& typed) { return &structures.find(typed); });
  options.search.engine = &engine_for_search(rows, engine);

  // From here on an interrupted leave-one-out answers with the folds that are done.
  std::optional<Interruption> interruption;
  if (options.left_out) interruption.emplace();
  options.processes = chosen_jobs(flags);
  options.stop = &Interruption::asked;
  std::unique_ptr<Progress> progress;
  options.progress = [&](const std::string& what, std::size_t done, std::size_t all) {
    if (done == 1) {
      progress.reset();  // that of the part before
      progress = std::make_unique<Progress>(std::vector<double>(all, 1), flags.quiet());
    }
    progress->show(done, what);
    if (done == all) progress.reset();
  };
  const FitStudy study = [&] {
    try {
      return study_of(name, rows, structures, *structure, options);
    } catch (const ValueError& error) {
      throw DataError(measured.path, 0, error.what());
    }
  }();

  Answer answer{fit_table(study) + "\n" +
                    comparison_table(study.rows, {.name = name,
                                                  .engine = std::string(engine.name),
                                                  .explain = false,
                                                  .split = flags.given("split")}),
                {},
                summary_json(study.rows),
                flags.value("seed", parse_seed)};
  add_fit_summary(answer.summary, study);
  for (const ComparedRun& run : study.rows) answer.rows.push_back(row_of(run));
  progress.reset();
  deliver(flags, files.inputs(), engine.name, answer);
  if (study.stopped) throw Error(ExitCode::Interrupted, interrupted_text(study));
  if (flags.given("save")) save(study, flags, files);
  note_idle_scopes(flags, *structure, rows);
  require_within(max_error, study.rows);
  return 0;
}

}  // namespace gradcast::commands
