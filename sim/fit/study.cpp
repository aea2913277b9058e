#include "sim/fit/study.hpp"

#include <algorithm>
#include <filesystem>

#include "sim/base/error.hpp"
#include "sim/compare/setups.hpp"

namespace gradcast {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;

ComparedRun compared(const FitRow& row, const Fit& fit, const FitForecast& forecast) {
  const Scenario scenario = with_parameters(row, *fit.structure, fit.values);
  ComparedRun run =
      compare_run(row.run, row.request, scenario, make_plan(scenario), forecast.result);
  run.low = forecast.low;
  run.high = forecast.high;
  run.doubt.deviations = forecast.deviations;
  run.extrapolated = forecast.extrapolated;
  return run;
}

std::string group_name(const FitRow& row, LeaveOut what) {
  switch (what) {
    case LeaveOut::Row:
      return "line " + std::to_string(row.run.line);
    case LeaveOut::Model:
      return row.run.model;
    case LeaveOut::Method:
      return method_of(row.run);
    case LeaveOut::Trace:
      return row.run.trace;
    case LeaveOut::Source:
      break;
  }
  return row.run.source;
}

/// The mean error of the rows in `groups`, with its interval. `by_row`: errors in percent. Groups
/// are drawn whole.
MeanError mean_error(const std::vector<double>& by_row, const Groups& groups, std::uint64_t seed) {
  std::vector<double> errors;
  Groups renumbered;
  for (const auto& group : groups) {
    renumbered.emplace_back();
    for (const std::size_t i : group) {
      renumbered.back().push_back(errors.size());
      errors.push_back(by_row[i]);
    }
  }
  return {summarize_errors(errors).mean_absolute,
          bootstrap_mean_absolute(errors, renumbered, seed)};
}

std::vector<double> errors_of(const std::vector<ComparedRun>& rows) {
  std::vector<double> errors;
  for (const ComparedRun& row : rows) errors.push_back(row.error_percent());
  return errors;
}

std::vector<double> unfitted_errors(const std::vector<FitRow>& rows, const Engine& engine) {
  std::vector<const FitRow*> all;
  for (const FitRow& row : rows) all.push_back(&row);
  return errors_percent(all, FitStructure{}, Eigen::VectorXd(), engine);
}

ManyFits many_fits(const StudyOptions& options, const std::string& what) {
  ManyFits many{.processes = options.processes, .stop = options.stop};
  if (options.progress)
    many.progress = [&options, what](std::size_t done, std::size_t all) {
      options.progress(what, done, all);
    };
  return many;
}

std::optional<FitStudy::Chosen> choose(const std::vector<FitRow>& rows, const Groups& groups,
                                       const std::vector<FitStructure>& structures,
                                       const StudyOptions& options) {
  const std::optional<Nested> nested =
      nested_leave_one_out(rows, *options.left_out, structures, options.search,
                           many_fits(options, "choosing among structures"));
  if (!nested) return std::nullopt;
  FitStudy::Chosen chosen;
  chosen.error = mean_error(nested->errors_percent, groups, options.search.seed);
  chosen.worst_percent = summarize_errors(nested->errors_percent).worst;
  chosen.by_fold = nested->chosen;
  for (std::size_t i = 0; i < structures.size(); ++i)
    chosen.tried.emplace_back(structures[i].name, nested->mean_absolute[i]);
  return chosen;
}

/// The folds into the study. Returns the errors by row of all rows; 0 where a fold is missing,
/// whose group is taken out of `groups`.
std::vector<double> add_folds(FitStudy& study, const std::vector<FitRow>& rows, LeftOut left,
                              Groups& groups) {
  const auto missing = [&](std::size_t row) { return !left.done[left.fit_of[row]]; };
  std::erase_if(groups, [&](const auto& group) { return missing(group.front()); });
  if (!left.whole || groups.empty())
    throw Error(ExitCode::Interrupted, "interrupted: nothing was written");
  study.fit = std::move(*left.whole);
  std::vector<double> errors(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (missing(i)) continue;
    study.rows.push_back(compared(rows[i], left.fits[left.fit_of[i]], left.forecasts[i]));
    errors[i] = study.rows.back().error_percent();
  }
  const Groups folds = groups_of(rows, *study.left_out, true);
  for (std::size_t g = 0; g < folds.size(); ++g) {
    if (!left.done[g]) {
      ++study.folds_missing;
      continue;
    }
    study.folds.push_back(std::move(left.fits[g]));
    study.groups.push_back(group_name(rows[folds[g].front()], *study.left_out));
  }
  return errors;
}

}  // namespace

std::string structures_for(const std::string& measured, const DataFiles& files) {
  const std::string name = std::filesystem::path(measured).stem().string();
  const std::string own =
      std::string(kFitStructures.prefix) +
      (name.starts_with(kMeasuredRuns.prefix) ? name.substr(kMeasuredRuns.prefix.size()) : name);
  const auto known = files.names(kFitStructures);
  return std::find(known.begin(), known.end(), own) == known.end() ? "fit-default" : own;
}

FitStudy study_of(const std::string& measured, const std::vector<FitRow>& rows,
                  const FitStructures& structures, const FitStructure& structure,
                  const StudyOptions& options) {
  const auto all = claimed(rows);
  if (all.empty())
    throw ValueError("the model claims none of these runs, so there is nothing to fit");
  FitStudy study;
  study.measured = measured;
  study.structure = &structure;
  study.structures_tried = structures.structures.size();
  study.left_out = options.left_out;
  const LeaveOut what = options.left_out.value_or(LeaveOut::Row);
  Groups groups = groups_of(rows, what);
  std::vector<double> errors;
  if (options.left_out) {
    const bool choice = options.nested && structures.structures.size() > 1 && groups.size() > 2;
    errors = add_folds(study, rows,
                       leave_one_out(rows, what, structure, options.search, *options.engine,
                                     many_fits(options, "fitting without each " + to_text(what))),
                       groups);
    study.stopped = study.folds_missing > 0;
    if (choice && !study.stopped) {
      study.nested = choose(rows, groups, structures.structures, options);
      study.stopped = !study.nested;
    }
  } else {
    study.fit = fit_rows(all, structure, options.search);
    for (const FitRow& row : rows)
      study.rows.push_back(compared(
          row, study.fit, forecast(study.fit, row, *options.engine, *options.search.engine)));
    errors = errors_of(study.rows);
  }
  study.unfitted =
      mean_error(unfitted_errors(rows, *options.search.engine), groups, options.search.seed);
  study.fitted = mean_error(errors, groups, options.search.seed);
  add_speedups(study.rows);
  return study;
}

}  // namespace gradcast
