// Inputs of a simulated iteration, as columns of its row.
#pragma once
#include <string>

#include "sim/answers/document.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast::commands {

/// Everything that can change the answer.
Json settings_of(const Scenario& scenario, const Request& request, const Plan& plan,
                 const DataFiles& files, const NoiseChoice& noise, const std::string& engine);

}  // namespace gradcast::commands
