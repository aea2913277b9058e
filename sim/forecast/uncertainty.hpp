// How far a forecast may be off by what is known to vary: kernels' own spread, interpolation in
// their cost table, and what a fitted cluster file says of itself.
#pragma once
#include <optional>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

/// Nominal share of measurements within a forecast's interval.
inline constexpr double kIntervalLevel = 0.9;

/// Of a normal, its 95th percentile lies so many deviations above its median.
extern const double kDeviationsToP95;

/// Standard deviation of an iteration that the compressor's kernels bring in: what their 95th
/// percentiles lie above their medians, and, where a bucket is no point of the table, how far
/// interpolation in it is off. Kernels of different buckets are taken to vary each by itself.
Seconds kernel_deviation(const Plan& plan, const Scenario& scenario);

/// What makes a forecast uncertain, as standard deviations of the iteration.
struct ForecastDeviations {
  /// This run's alone: its kernels, chance, and what the fit left unexplained of each run.
  Seconds own{0};
  /// Of each of the cluster's properties that has a deviation, in their order: by how much the
  /// iteration moves, with its sign. The same error in every run on the cluster. Empty where the
  /// closed form cannot run it.
  std::vector<Seconds> shared{};
};

/// None for a cluster that was not fitted.
std::optional<ForecastDeviations> deviations_of(const Scenario& scenario, const Plan& plan,
                                                const IterationResult& forecast,
                                                Seconds jitter = Seconds{0});

/// Of kIntervalLevel, about a forecast.
struct ForecastInterval {
  Seconds low{0};
  Seconds high{0};
};

/// Normal; never below 0.
ForecastInterval interval_about(Seconds forecast, const ForecastDeviations& deviations);

/// From its kernels' deviation and its cluster's, of each property that has one and of what the fit
/// left unexplained, and from the deviation of its replicas (`jitter`). Normal. None for a cluster
/// that was not fitted: how much its software takes beside what is modelled nobody knows, and an
/// interval without it would be a lie.
std::optional<ForecastInterval> interval_of(const Scenario& scenario, const Plan& plan,
                                            const IterationResult& forecast,
                                            Seconds jitter = Seconds{0});

}  // namespace gradcast
