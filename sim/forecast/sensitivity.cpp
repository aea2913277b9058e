#include "sim/forecast/sensitivity.hpp"

#include "sim/engine/iteration_result.hpp"

namespace gradcast {

Cluster with_latencies(Cluster cluster, double factor) {
  cluster.latency_factor *= factor;
  return cluster;
}

std::optional<LatencySensitivity> latency_sensitivity(const Scenario& scenario, const Plan& plan) {
  const Engine& engine = *find_engine("analytic");
  if (!engine.refusal(plan, scenario.cluster, scenario.world).empty()) return std::nullopt;
  const auto at = [&](double factor) {
    return summarize(plan,
                     engine.run(plan, with_latencies(scenario.cluster, factor), scenario.world));
  };
  const IterationResult as_is = at(1);
  if (!as_is.lost.empty()) return std::nullopt;
  return LatencySensitivity{at(0.5).iteration, as_is.iteration, at(2).iteration};
}

}  // namespace gradcast
