// What a forecast is sure of least.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast {

/// Latency is assumed more often than measured, and moves runs of many small collectives by tens of
/// percent: the same run with half and with twice the latencies, by the closed form.
struct LatencySensitivity {
  Seconds half{0};
  Seconds as_is{0};
  Seconds twice{0};
};

/// The same cluster with all its latencies (of NICs, nodes, switches, messages) times a factor.
Cluster with_latencies(Cluster cluster, double factor);

/// `plan` is the scenario's: what is merged or chosen is decided once, by what is believed. nullopt
/// where the closed form cannot run it.
std::optional<LatencySensitivity> latency_sensitivity(const Scenario& scenario, const Plan& plan);

}  // namespace gradcast
