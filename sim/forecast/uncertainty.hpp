// The error of a forecast from causes that are known to vary: the spread of kernel times,
// interpolation in the cost table, and the deviations that a fitted cluster file states.
#pragma once
#include <optional>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/interval.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

/// The 95th percentile of a normal distribution lies this many deviations above its median.
extern const double kDeviationsToP95;

/// The standard deviation of an iteration that comes from the compressor's kernels. It is made from
/// the distance of their 95th percentiles from their medians and, where a bucket is not a point of
/// the table, from the error of interpolation. Kernels of different buckets are assumed to vary
/// independently.
Seconds kernel_deviation(const Plan& plan, const Scenario& scenario);

/// The standard deviation of an iteration that comes from costs which nobody measured: from the
/// upper end that their table states, the same in all buckets.
Seconds cost_deviation(const Plan& plan);

/// The causes of a forecast's uncertainty, as standard deviations of the iteration.
struct ForecastDeviations {
  /// The part that belongs to this run alone: its kernels, random noise, and what the fit left
  /// unexplained in each run.
  Seconds own{0};
  /// The iteration's change, with its sign, for each property of the cluster that has a deviation,
  /// in their order. This error is the same in every run on the cluster. Empty where the closed
  /// form cannot run it.
  std::vector<Seconds> shared{};
};

/// None for a cluster that was not fitted.
std::optional<ForecastDeviations> deviations_of(const Scenario& scenario, const Plan& plan,
                                                const IterationResult& forecast,
                                                Seconds jitter = Seconds{0});

/// The variance of a forecast, in s².
double variance_of(const ForecastDeviations& deviations);

/// The variance of the difference of two forecasts on one cluster, in s². The effect of a wrong
/// property of the cluster cancels as far as it is the same in both. The errors of each run alone
/// add up as if independent: those of kernels, and what the fit left unexplained. How much of the
/// latter two runs share is unknown, so this rather widens the result.
double variance_of_difference(const ForecastDeviations& one, const ForecastDeviations& other);

/// Normal; never below 0.
ForecastInterval interval_about(Seconds forecast, const ForecastDeviations& deviations);

/// The interval of a forecast. On a cluster that was fitted itself it is normal, from the
/// deviations of its kernels, of the cluster's properties, of what the fit left unexplained, and of
/// its replicas (`jitter`). Elsewhere it is that of its stack, or of the population of stacks (see
/// software_spread.hpp). There is none where the run never ends, or the data folder has no
/// population.
std::optional<ForecastInterval> interval_of(const Scenario& scenario, const Plan& plan,
                                            const IterationResult& forecast,
                                            Seconds jitter = Seconds{0});

}  // namespace gradcast
