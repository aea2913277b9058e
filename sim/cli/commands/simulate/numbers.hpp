// A simulated iteration as numbers: the columns of results in its row.
#pragma once
#include "sim/answers/document.hpp"
#include "sim/cli/commands/simulate/forecast.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast::commands {

/// The same columns for every run of as much chance; null where there is nothing to say.
Json numbers_of(const IterationForecast& forecast, const Plan& plan, const NoiseChoice& noise);

}  // namespace gradcast::commands
