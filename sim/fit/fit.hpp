// Physical numbers estimated from measured runs, and forecasts with them that say how sure they
// are.
#pragma once
#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "sim/fit/least_squares.hpp"
#include "sim/fit/row_model.hpp"

namespace gradcast {

struct FitOptions {
  const Engine* engine = nullptr;  // of the search
  int random_starts = 10;          // beside the structure's own
  std::uint64_t seed = 1;
};

struct FittedParameter {
  double value = 0;
  /// 95 % interval; the value itself where none can be given, the bounds where no run is to spare.
  double low = 0;
  double high = 0;
  bool at_bound = false;
  std::string fixed;  // why it stayed at its start and was not estimated; "" where it was
};

struct Fit {
  const FitStructure* structure = nullptr;
  std::vector<FittedParameter> parameters;
  Eigen::VectorXd values;      // of the same
  Eigen::MatrixXd covariance;  // 0 for what was not estimated
  /// What is left: standard deviation of the differences, in seconds or as a share.
  double deviation = 0;
  Eigen::VectorXd residuals;  // by run of the fit, in the same unit
  double degrees = 1;         // of freedom
  std::size_t runs = 0;
  double relative_singular_value = 0;
  /// Parameters that these runs cannot tell apart, or hardly: names, by group. Empty: all can.
  std::vector<std::string> not_told_apart;
  int starts = 0;
  int starts_that_agree = 0;        // ended as low as the best
  double start_spread_percent = 0;  // how far forecasts of these lie apart, at most
  std::vector<const FitRow*> rows;  // it was fitted on
};

/// Limits that a fold must keep (relative singular value; forecasts over random starts, in
/// percent).
inline constexpr double kLeastSingularValue = 1e-6;
inline constexpr double kMostStartSpreadPercent = 0.5;

/// Estimates a structure's parameters. One that the runs do not identify stays at its start, and
/// says why. `targets`: runs to be forecast, whose forecasts must not depend on where the search
/// began.
Fit fit_rows(const std::vector<const FitRow*>& rows, const FitStructure& structure,
             const FitOptions& options, const std::vector<const FitRow*>& targets = {});

inline constexpr std::size_t kFewRuns = 6;

struct FitForecast {
  IterationResult result;
  Seconds low{0};  // of kIntervalLevel
  Seconds high{0};
  /// In what it lies beyond the runs of the fit: "compute_seconds 0.0804 below 0.46"; "" in
  /// nothing.
  std::string extrapolated;
};

/// Of a run, by `engine`. The interval is Student's t of what the fit left unexplained in runs of
/// the same algorithm (of all where those are fewer than kFewRuns), of its parameters' covariance,
/// of parameters that were not estimated (evenly over their bounds), and of the spread of the
/// compressor's kernels.
FitForecast forecast(const Fit& fit, const FitRow& row, const Engine& engine,
                     const Engine& search_engine);

}  // namespace gradcast
