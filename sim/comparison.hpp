// Forecasts held against measurements: errors, what stays unexplained, and speedups beside
// speedups.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/iteration_result.hpp"
#include "sim/measured.hpp"

namespace gradcast {

struct ComparedRun {
  MeasuredRun run;
  IterationResult forecast;
  int ranks = 0;
  std::string evidence{};  // of the compressor's costs; "" for dense
  std::string outside{};   // which range of the cost table was left; "" for none
  std::string suspects{};  // what would explain it; "" where nobody asked, or nothing would
  /// Over the dense run of the same set-up, where the file has one.
  std::optional<double> measured_speedup{};
  std::optional<double> predicted_speedup{};

  Seconds predicted() const { return forecast.iteration; }
  double error_percent() const;         // (predicted - measured) / measured
  Seconds unexplained() const;          // measured - predicted
  double measured_efficiency() const;   // compute / measured
  double predicted_efficiency() const;  // compute / predicted
};

/// Of the errors in percent of some rows. The 90th percentile is nearest-rank.
struct ErrorSummary {
  std::size_t rows = 0;
  double mean_absolute = 0;
  double median_absolute = 0;
  double p90_absolute = 0;
  double worst = 0;  // with its sign
  double bias = 0;   // mean of the signed errors
};

/// Throws std::logic_error for no errors.
ErrorSummary summarize_errors(const std::vector<double>& errors_percent);

/// Fills in the speedups over dense.
void add_speedups(std::vector<ComparedRun>& runs);

/// How much faster one compressor's run is than another's of the same set-up.
struct SpeedupPair {
  std::string source;
  std::string model;
  std::string compressor;  // with its density where the set-up has it at several
  std::string over;
  double measured = 0;
  double predicted = 0;
};

/// In each set-up, the compressor that was measured fastest over each of the others.
std::vector<SpeedupPair> speedups_of_fastest(const std::vector<ComparedRun>& runs);

}  // namespace gradcast
