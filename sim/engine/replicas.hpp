// Replicas of a run under random noise. They differ in the speed of ranks and NICs.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

/// Standard deviation over mean of the factors by which random times are multiplied. The factors
/// are lognormal, of mean 1.
struct Noise {
  double compute = 0;  // of each rank, all of an iteration alike
  double network = 0;  // of each node's NICs, bytes and latency alike
  std::uint64_t seed = 1;

  bool any() const { return compute > 0 || network > 0; }
};

/// Replica r of a scenario. It is the same whichever other replicas are run. The counts of selected
/// elements, which are random too, are drawn again for each replica.
Scenario replica_of(const Scenario& scenario, const Noise& noise, int replica);

/// The spread of the iteration times of the replicas that ended.
struct Spread {
  int replicas = 0;
  int lost = 0;  // never ended
  Seconds mean{0};
  /// 95 % interval of the mean, by Student's t. With fewer than two replicas it is the mean itself.
  Seconds low{0};
  Seconds high{0};
  // Quantiles, nearest rank.
  Seconds p05{0};
  Seconds median{0};
  Seconds p95{0};
};

Spread spread_of(std::vector<Seconds> times, int lost);

/// The result of all replicas of a scenario.
struct Replicated {
  /// The means of the replicas that ended, part by part, so that the parts still add up. If none
  /// ended, the first replica.
  IterationResult mean;
  Spread spread;
};

/// Runs the replicas one after another. `plan` is the scenario's.
Replicated run_replicas(const Scenario& scenario, const Plan& plan, const Engine& engine,
                        const Noise& noise, int replicas);

}  // namespace gradcast
