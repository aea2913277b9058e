// Estimates physical numbers from measured runs, and makes forecasts with them that have intervals.
#pragma once
#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "sim/fit/least_squares.hpp"
#include "sim/fit/row_model.hpp"
#include "sim/forecast/uncertainty.hpp"

namespace gradcast {

struct FitOptions {
  const Engine* engine = nullptr;  // of the search
  int random_starts = 10;          // beside the structure's own
  std::uint64_t seed = 1;
};

struct FittedParameter {
  double value = 0;
  /// 95 % interval. It is the value itself if none can be given, and the bounds if there are no
  /// more runs than parameters.
  double low = 0;
  double high = 0;
  bool at_bound = false;
  std::string fixed;  // why it stayed at its start and was not estimated; "" where it was
};

struct Fit {
  const FitStructure* structure = nullptr;
  std::vector<FittedParameter> parameters;
  Eigen::VectorXd values;      // the parameters' values
  Eigen::MatrixXd covariance;  // 0 for those that were not estimated
  /// The standard deviation of the differences that are left, in seconds or as a share.
  double deviation = 0;
  Eigen::VectorXd residuals;  // by run of the fit, in the same unit
  double degrees = 1;         // degrees of freedom
  std::size_t runs = 0;
  double relative_singular_value = 0;
  /// Names of parameters that these runs cannot tell apart, or hardly, by group. Empty: they can
  /// tell all apart.
  std::vector<std::string> not_told_apart;
  int starts = 0;
  int starts_that_agree = 0;        // ended as low as the best
  double start_spread_percent = 0;  // largest difference between their forecasts of a run
  std::vector<const FitRow*> rows;  // the runs of the fit
};

/// Limits that every fold must keep: the least relative singular value, and the largest spread of
/// forecasts over random starts, in percent.
inline constexpr double kLeastSingularValue = 1e-6;
inline constexpr double kMostStartSpreadPercent = 0.5;

/// Estimates a structure's parameters. A parameter that the runs do not identify stays at its
/// start, and says why. `targets`: the runs to be forecast; their forecasts must not depend on
/// where the search began.
Fit fit_rows(const std::vector<const FitRow*>& rows, const FitStructure& structure,
             const FitOptions& options, const std::vector<const FitRow*>& targets = {});

/// The same, for one of many fits on runs of the same structure and engine. All begin at the same
/// places, so that each forecast there is made once.
Fit fit_rows(const std::vector<const FitRow*>& rows, const FitStructure& structure,
             const FitOptions& options, const std::vector<const FitRow*>& targets,
             RowForecasters& forecasters);

inline constexpr std::size_t kFewRuns = 6;

struct FitForecast {
  IterationResult result;
  Seconds low{0};  // interval of kIntervalLevel
  Seconds high{0};
  /// The values in which the run lies beyond the runs of the fit: "compute_seconds 0.0804 below
  /// 0.46"; "" for none.
  std::string extrapolated;
  /// The parts of the interval. They include Student's t: as deviations of normal distributions
  /// they give the interval above.
  ForecastDeviations deviations{};
};

/// Forecasts a run by `engine`. The interval is Student's t. It includes what the fit left
/// unexplained in runs of the same algorithm (in all runs, if those are fewer than kFewRuns), the
/// covariance of the parameters, parameters that were not estimated (uniform over their bounds),
/// and the spread of the compressor's kernels.
FitForecast forecast(const Fit& fit, const FitRow& row, const Engine& engine,
                     const Engine& search_engine);

}  // namespace gradcast
