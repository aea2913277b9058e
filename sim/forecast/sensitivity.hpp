// A forecast's dependence on the input that is least certain: latency.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast {

/// The same run with half and with twice the latencies, by the closed form. Latency is more often
/// assumed than measured, and it changes runs of many small collectives by tens of percent.
struct LatencySensitivity {
  Seconds half{0};
  Seconds as_is{0};
  Seconds twice{0};
};

/// The same cluster with all its latencies (of NICs, nodes, switches, messages) multiplied by a
/// factor.
Cluster with_latencies(Cluster cluster, double factor);

/// `plan` is the scenario's. Merging and choices stay as the plan has them, with the latencies that
/// are assumed. nullopt where the closed form cannot run it.
std::optional<LatencySensitivity> latency_sensitivity(const Scenario& scenario, const Plan& plan);

}  // namespace gradcast
