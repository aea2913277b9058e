// A simulated iteration as tables for people.
#pragma once
#include <string>

#include "sim/answers/document.hpp"
#include "sim/cli/commands/simulate/forecast.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast::commands {

/// The forecast, where its time goes, and the inputs: `settings` as settings_of has them.
std::string as_table(const Json& settings, const IterationForecast& forecast, const Plan& plan,
                     const NoiseChoice& noise);

}  // namespace gradcast::commands
