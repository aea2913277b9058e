// Plays a plan on a network that SimGrid simulates, in this process: once, because SimGrid's clock,
// model and callbacks are process-wide.
#pragma once
#include "sim/engine/engine.hpp"

namespace gradcast {

/// Every message by itself.
RunRecord simulate_exact(const Plan& plan, const Cluster& cluster, const World& world,
                         const Observation& observation);

/// One set of flows for each phase of a collective.
RunRecord simulate_fluid(const Plan& plan, const Cluster& cluster, const World& world,
                         const Observation& observation);

}  // namespace gradcast
