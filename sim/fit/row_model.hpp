// A measured run as a function of the fitted parameters. It uses the same plan and engines as every
// forecast. A search asks thousands of times, so that whatever the parameters do not change is made
// once.
#pragma once
#include <Eigen/Core>
#include <map>
#include <memory>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/fit/structure.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/plan/bucket_costs.hpp"

namespace gradcast {

/// A measured run that a fit may use, with the scenario that forecasts it.
struct FitRow {
  MeasuredRun run;
  Request request;
  Scenario scenario;
};

/// The rows, with what they leave open as `request_of` has it. Throws DataError, with the row's
/// line, for a row that cannot be forecast.
std::vector<FitRow> fit_rows_of(const MeasuredRuns& measured, DataFiles& files,
                                const std::string& stack = "");

/// Whether a run depends on each parameter of the structure.
std::vector<bool> scope_of(const FitStructure& structure, const MeasuredRun& run);

/// A number of a run's scenario, and the parameters that add up to it.
struct QuantityUse {
  const ScenarioQuantity* quantity = nullptr;
  std::vector<Eigen::Index> parameters;

  void set(Scenario& scenario, const Eigen::VectorXd& values) const;
};

/// The numbers that a structure's parameters set in a run. Throws ValueError where two parameters
/// set one that does not add up.
std::vector<QuantityUse> uses_of(const FitStructure& structure, const MeasuredRun& run);

/// The scenario of a run with the values of the parameters that apply to the run. Overheads of
/// several parameters add up, and replace the cluster's own.
Scenario with_parameters(const FitRow& row, const FitStructure& structure,
                         const Eigen::VectorXd& parameters);

/// The forecasts at these parameters, by run.
Eigen::VectorXd forecasts(const std::vector<const FitRow*>& rows, const FitStructure& structure,
                          const Eigen::VectorXd& parameters, const Engine& engine);

/// The errors of these forecasts.
std::vector<double> errors_percent(const std::vector<const FitRow*>& rows,
                                   const FitStructure& structure, const Eigen::VectorXd& parameters,
                                   const Engine& engine);

/// The closed form if it can run all of these, else `preferred`. A search needs thousands of
/// forecasts, and the two engines agree where nothing contends.
const Engine& engine_for_search(const std::vector<FitRow>& rows, const Engine& preferred);

/// Forecasts measured runs at many parameters. A search asks thousands of times, so that whatever
/// the parameters do not change is made once.
class RowForecaster {
 public:
  /// All arguments must outlive it. Throws as uses_of does.
  RowForecaster(const FitRow& row, const FitStructure& structure, const Engine& engine);

  enum class Keep { Last, Always };

  /// The forecast at these parameters of the structure: equal to that of forecasts(), except for
  /// rounding. It is not made again if the run's own parameters are those of the last call, or of
  /// one that was kept.
  double at(const Eigen::VectorXd& parameters, Keep keep = Keep::Last);

 private:
  const Engine& engine_;
  std::vector<QuantityUse> uses_;
  Scenario scenario_;  // each forecast sets the quantities again
  std::unique_ptr<KnownCosts> costs_;
  std::vector<double> own_;  // parameters of the last forecast, those that apply to the run
  std::vector<double> asked_;
  double last_ = -1;  // none yet
  std::map<std::vector<double>, double> kept_;
};

/// Forecasters of the runs of one structure. Fits that leave out some runs share the others.
class RowForecasters {
 public:
  RowForecasters(const FitStructure& structure, const Engine& engine)
      : structure_(structure), engine_(engine) {}

  RowForecaster& of(const FitRow& row);

 private:
  const FitStructure& structure_;
  const Engine& engine_;
  std::map<const FitRow*, RowForecaster> made_;
};

}  // namespace gradcast
