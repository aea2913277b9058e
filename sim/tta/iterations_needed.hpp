// The number of iterations that trainings took to an accuracy, and its uncertainty.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/forecast/software_spread.hpp"
#include "sim/tta/trained_setups.hpp"

namespace gradcast {

/// The iterations to the first evaluation at or above a target. Nothing is extrapolated: a training
/// that did not reach it says only that it takes more than it ran.
struct IterationsNeeded {
  std::size_t seeds = 0;    // trainings
  std::size_t reached = 0;  // trainings that reached the target
  /// Median over those that reached it. If some did not, the median of all is larger.
  std::optional<double> median{};
  std::int64_t least = 0;
  std::int64_t most = 0;
  /// Length of the shortest training that did not reach the target, up to its last evaluation.
  std::optional<std::int64_t> not_within{};
  // Logarithms of the iterations of those that reached it:
  double mean_log = 0;
  double deviation_log = 0;  // 0 for fewer than two
  /// Between evaluations nobody looked. The evaluation before the first that reached it came after
  /// this share of its iterations; the least of all trainings.
  double looked_share = 1;

  bool complete() const { return reached == seeds; }
  /// Lower bound on the iterations of a typical training.
  double at_least() const { return median ? *median : static_cast<double>(*not_within); }
  /// "n of m"
  std::string counted() const;
};

IterationsNeeded iterations_needed(const TrainedSetup& setup, double percent);

/// Interval for the iterations of one more training, with probability kIntervalLevel, if their
/// logarithms are normal (Student's t). Its low end is stretched down by the iterations between two
/// evaluations. nullopt if fewer than two trainings or not all reached the target: the spread is
/// unknown then.
std::optional<RatioInterval> interval_of(const IterationsNeeded& needed);

/// The same for the ratio of iterations: one more training over one more of dense.
std::optional<RatioInterval> ratio_interval(const IterationsNeeded& its,
                                            const IterationsNeeded& dense);

}  // namespace gradcast
