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

FitProgress progress_of(const StudyOptions& options, const std::string& what) {
  if (!options.progress) return {};
  return [&options, what](std::size_t done, std::size_t all) { options.progress(what, done, all); };
}

FitStudy::Chosen choose(const std::vector<FitRow>& rows, const Groups& groups,
                        const std::vector<FitStructure>& structures, const StudyOptions& options) {
  const Nested nested = nested_leave_one_out(rows, *options.left_out, structures, options.search,
                                             progress_of(options, "choosing among structures"));
  FitStudy::Chosen chosen;
  chosen.error = mean_error(nested.errors_percent, groups, options.search.seed);
  chosen.worst_percent = summarize_errors(nested.errors_percent).worst;
  chosen.by_fold = nested.chosen;
  for (std::size_t i = 0; i < structures.size(); ++i)
    chosen.tried.emplace_back(structures[i].name, nested.mean_absolute[i]);
  return chosen;
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
  study.fit = fit_rows(all, structure, options.search);
  const LeaveOut what = options.left_out.value_or(LeaveOut::Row);
  const Groups groups = groups_of(rows, what);
  study.unfitted =
      mean_error(unfitted_errors(rows, *options.search.engine), groups, options.search.seed);
  if (options.left_out) {
    LeftOut left = leave_one_out(rows, what, structure, options.search, *options.engine,
                                 progress_of(options, "fitting without each " + to_text(what)));
    for (std::size_t i = 0; i < rows.size(); ++i)
      study.rows.push_back(compared(rows[i], left.fits[left.fit_of[i]], left.forecasts[i]));
    study.folds = std::move(left.fits);
    for (const auto& group : groups_of(rows, what, true))
      study.groups.push_back(group_name(rows[group.front()], what));
    if (options.nested && structures.structures.size() > 1 && groups.size() > 2)
      study.nested = choose(rows, groups, structures.structures, options);
  } else {
    for (const FitRow& row : rows)
      study.rows.push_back(compared(
          row, study.fit, forecast(study.fit, row, *options.engine, *options.search.engine)));
  }
  study.fitted = mean_error(errors_of(study.rows), groups, options.search.seed);
  add_speedups(study.rows);
  return study;
}

}  // namespace gradcast
