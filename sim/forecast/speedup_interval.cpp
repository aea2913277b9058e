#include "sim/forecast/speedup_interval.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/normal_quantile.hpp"

namespace gradcast {
namespace {

/// The ratios r for which `others - r x its` is less than `reach` deviations from 0. Squared, that
/// is a quadratic: a r² - 2 b r + c < 0.
std::optional<RatioInterval> ratios_about(Seconds its, const ForecastDeviations& deviations,
                                          Seconds others, const ForecastDeviations& of_others) {
  const double reach = -normal_quantile((1 - kIntervalLevel) / 2);
  const double of_its = variance_of(deviations);
  const double of_other = variance_of(of_others);
  const double covariance = (of_its + of_other - variance_of_difference(deviations, of_others)) / 2;
  const double a = its.count() * its.count() - reach * reach * of_its;
  const double b = its.count() * others.count() - reach * reach * covariance;
  const double c = others.count() * others.count() - reach * reach * of_other;
  if (a <= 0) return std::nullopt;
  const double root = std::sqrt(std::max(0.0, b * b - a * c));
  return RatioInterval{std::max(0.0, (b - root) / a), (b + root) / a};
}

}  // namespace

ForecastDoubt doubt_of(const Scenario& scenario, const Plan& plan, const IterationResult& forecast,
                       Seconds jitter) {
  ForecastDoubt doubt{deviations_of(scenario, plan, forecast, jitter)};
  if (!doubt.deviations) doubt.spread = spread_of(scenario, plan, forecast, jitter);
  return doubt;
}

std::optional<ForecastInterval> interval_of(Seconds forecast, const ForecastDoubt& doubt) {
  if (doubt.deviations) return interval_about(forecast, *doubt.deviations);
  if (doubt.spread) return interval_of(*doubt.spread);
  return std::nullopt;
}

std::optional<RatioInterval> speedup_interval(Seconds its, const ForecastDoubt& doubt,
                                              Seconds others, const ForecastDoubt& others_doubt) {
  if (doubt.deviations && others_doubt.deviations)
    return ratios_about(its, *doubt.deviations, others, *others_doubt.deviations);
  if (!doubt.spread || !others_doubt.spread) return std::nullopt;
  // Draws are of what stacks add to physics; a forecast by physics alone may lie beside them.
  const RatioInterval drawn = speedup_interval(*doubt.spread, *others_doubt.spread);
  if (cannot_pay(doubt.spread, others_doubt.spread) ||
      cannot_pay(others_doubt.spread, doubt.spread))
    return drawn;
  return RatioInterval{std::min(drawn.low, others / its), std::max(drawn.high, others / its)};
}

}  // namespace gradcast
