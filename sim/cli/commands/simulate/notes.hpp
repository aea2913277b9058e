// Notes for the reader of a simulated iteration, besides its numbers, a line each.
#pragma once
#include "sim/engine/engine.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/flags.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast::commands {

/// Says before the run that it will take a while.
void note_long_run(const Flags& flags, const Engine& engine, const Plan& plan,
                   const Cluster& cluster);

/// Says where the compressor's costs come from, unless they were measured on the model's device.
void note_costs(const Flags& flags, const Request& request, const Scenario& scenario,
                const Plan& plan);

/// One call for a bucket's tensors takes a row of just those; without, each is charged a call.
void note_selection(const Flags& flags, const Scenario& scenario, const Plan& plan);

/// Choices that do not change the answer, or change it in a way that a reader should know.
void note_choices(const Flags& flags, const Scenario& scenario, const Plan& plan,
                  const NoiseChoice& noise);

}  // namespace gradcast::commands
