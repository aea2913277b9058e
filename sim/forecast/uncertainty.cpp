#include "sim/forecast/uncertainty.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/normal_quantile.hpp"
#include "sim/base/error.hpp"
#include "sim/base/thread_pool.hpp"
#include "sim/forecast/speedup_interval.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/cost_holdout.hpp"
#include "sim/plan/plan_summary.hpp"

namespace gradcast {

const double kDeviationsToP95 = -normal_quantile(0.05);

namespace {

double square(double value) { return value * value; }

/// The typical deviation over median of a table's times, as in its usual row; 0 if nothing was
/// timed.
double usual_spread(const CostRows& rows, Seconds CostRow::*median, Seconds CostRow::*p95) {
  std::vector<double> spreads;
  for (const CostRow* row : rows)
    if (row->*median > Seconds{0})
      spreads.push_back(std::max(0.0, row->*p95 / (row->*median) - 1) / kDeviationsToP95);
  if (spreads.empty()) return 0;
  const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
  std::nth_element(spreads.begin(), middle, spreads.end());
  return *middle;
}

/// The deviation over time of an interpolated row. (The mean absolute error of a normal is 0.8
/// deviations.)
double interpolation_deviation(const CostRows& rows) {
  const HoldOut held_out = held_out_error(rows);
  return held_out.errors.rows == 0 ? 0 : held_out.errors.mean_absolute / 100 / 0.798;
}

}  // namespace

Seconds kernel_deviation(const Plan& plan, const Scenario& scenario) {
  if (!scenario.compresses() || plan.buckets.empty() || plan.ranks() == 1) return Seconds{0};
  const CompressorCosts costs(scenario.costs, cost_choice(scenario));
  const double encode = usual_spread(costs.rows(), &CostRow::encode, &CostRow::encode_p95);
  const double decode = usual_spread(costs.rows(), &CostRow::decode, &CostRow::decode_p95);
  double variance = 0;
  Seconds interpolated{0};
  for (const PlannedBucket& bucket : plan.buckets) {
    variance +=
        square(encode * bucket.cost.encode.count()) + square(decode * bucket.cost.decode.count());
    if (bucket.cost.interpolated) interpolated += bucket.cost.encode + bucket.cost.decode;
  }
  // Interpolation errors are assumed to be the same in all buckets.
  if (interpolated > Seconds{0})
    variance += square(interpolation_deviation(costs.rows()) * interpolated.count());
  return Seconds{std::sqrt(variance)};
}

Seconds cost_deviation(const Plan& plan) {
  Seconds compressing{0};
  for (const PlannedBucket& bucket : plan.buckets)
    compressing += bucket.first_encode + bucket.cost.encode + bucket.cost.decode;
  return (cost_factors_of(plan).high - 1) / kDeviationsToP95 * compressing;
}

std::optional<ForecastDeviations> deviations_of(const Scenario& scenario, const Plan& plan,
                                                const IterationResult& forecast, Seconds jitter) {
  const Cluster& cluster = scenario.cluster;
  const bool fitted = scenario.stack == nullptr && (cluster.forecast_deviation > Seconds{0} ||
                                                    cluster.forecast_deviation_share > 0);
  if (!fitted || !forecast.lost.empty()) return std::nullopt;
  ForecastDeviations deviations;
  deviations.own = Seconds{
      std::sqrt(square(kernel_deviation(plan, scenario).count()) + square(jitter.count()) +
                square(cost_deviation(plan).count()) + square(cluster.forecast_deviation.count()) +
                square(cluster.forecast_deviation_share * forecast.iteration.count()))};
  const Engine& engine = *find_engine("analytic");
  if (cluster.deviations.empty() || !engine.refusal(plan, scenario.cluster, scenario.world).empty())
    return deviations;
  for (const PropertyDeviation& deviation : cluster.deviations) {
    const auto [low, high] = one_deviation_about(cluster, deviation);
    const auto at = [&](const Cluster& moved) {
      leave_if_stopped();
      Scenario other = scenario;
      other.cluster = moved;
      return run(other, engine).iteration;
    };
    deviations.shared.push_back((at(high) - at(low)) / 2);
  }
  return deviations;
}

double variance_of(const ForecastDeviations& deviations) {
  return variance_of_difference(deviations, {});
}

double variance_of_difference(const ForecastDeviations& one, const ForecastDeviations& other) {
  double variance = square(one.own.count()) + square(other.own.count());
  const auto shift_of = [](const ForecastDeviations& deviations, std::size_t property) {
    return property < deviations.shared.size() ? deviations.shared[property] : Seconds{0};
  };
  for (std::size_t i = 0; i < std::max(one.shared.size(), other.shared.size()); ++i)
    variance += square((shift_of(one, i) - shift_of(other, i)).count());
  return variance;
}

ForecastInterval interval_about(Seconds forecast, const ForecastDeviations& deviations) {
  const double half =
      -normal_quantile((1 - kIntervalLevel) / 2) * std::sqrt(variance_of(deviations));
  return {Seconds{std::max(0.0, forecast.count() - half)}, Seconds{forecast.count() + half}};
}

std::optional<ForecastInterval> interval_of(const Scenario& scenario, const Plan& plan,
                                            const IterationResult& forecast, Seconds jitter) {
  return interval_of(forecast.iteration, doubt_of(scenario, plan, forecast, jitter));
}

}  // namespace gradcast
