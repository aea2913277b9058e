// The uncertainty of a speedup: the interval of the ratio of two forecasts. An error that would
// move both of them alike makes neither of them faster than the other.
#pragma once
#include <optional>

#include "sim/forecast/interval.hpp"
#include "sim/forecast/software_spread.hpp"
#include "sim/forecast/uncertainty.hpp"

namespace gradcast {

/// The causes of a forecast's uncertainty: at most one of the two.
struct ForecastDoubt {
  std::optional<ForecastDeviations> deviations{};  // on a cluster that was fitted itself
  std::optional<SoftwareSpread> spread{};          // elsewhere, of its stack or of all stacks
};

ForecastDoubt doubt_of(const Scenario& scenario, const Plan& plan, const IterationResult& forecast,
                       Seconds jitter = Seconds{0});

/// None where there is no doubt that is known.
std::optional<ForecastInterval> interval_of(Seconds forecast, const ForecastDoubt& doubt);

/// The interval of how many times as fast a run that takes `its` is as one that takes `others`. It
/// holds the ratio of the two forecasts. With deviations it excludes 1 just where the difference of
/// the two times is more than its own deviation allows (Fieller's interval of a ratio). None where
/// the two doubts are of different kinds, or where `its` time may as well be 0.
std::optional<RatioInterval> speedup_interval(Seconds its, const ForecastDoubt& doubt,
                                              Seconds others, const ForecastDoubt& others_doubt);

}  // namespace gradcast
