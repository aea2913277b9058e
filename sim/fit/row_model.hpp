// A measured run as a function of what is fitted: the same plan and engines as every forecast.
#pragma once
#include <Eigen/Core>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/fit/structure.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/measured.hpp"

namespace gradcast {

/// A measured run that a fit may use, with the scenario that forecasts it.
struct FitRow {
  MeasuredRun run;
  Request request;
  Scenario scenario;  // with the cost rows of its own compressor only: it is copied often
};

/// Throws DataError, with the row's line, for what cannot be forecast.
std::vector<FitRow> fit_rows_of(const MeasuredRuns& measured, DataFiles& files);

/// Which of a structure's parameters a run depends on, by parameter.
std::vector<bool> scope_of(const FitStructure& structure, const MeasuredRun& run);

/// The scenario with what is fitted set to the parameters that are of its run. Overheads of several
/// parameters add up, and stand instead of the cluster's own.
Scenario with_parameters(const FitRow& row, const FitStructure& structure,
                         const Eigen::VectorXd& parameters);

/// By run, at those parameters.
Eigen::VectorXd forecasts(const std::vector<const FitRow*>& rows, const FitStructure& structure,
                          const Eigen::VectorXd& parameters, const Engine& engine);

/// What these are off by.
std::vector<double> errors_percent(const std::vector<const FitRow*>& rows,
                                   const FitStructure& structure, const Eigen::VectorXd& parameters,
                                   const Engine& engine);

/// The closed form where it can play all of these, else `preferred`: a search asks for thousands of
/// forecasts, and the two are the same where nothing contends.
const Engine& engine_for_search(const std::vector<FitRow>& rows, const Engine& preferred);

}  // namespace gradcast
