// The same run under chance: replicas that differ in how fast ranks compute and NICs carry.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

/// Standard deviation over mean of the times that chance touches; lognormal, of mean 1.
struct Noise {
  double compute = 0;  // of each rank, all of an iteration alike
  double network = 0;  // of each node's NICs, bytes and latency alike
  std::uint64_t seed = 1;

  bool any() const { return compute > 0 || network > 0; }
};

/// Replica r of a scenario, the same whichever others are run. What else chance decides in a
/// scenario, the counts of selected elements, is drawn anew for each.
Scenario replica_of(const Scenario& scenario, const Noise& noise, int replica);

/// Of the iteration times of the replicas that ended.
struct Spread {
  int replicas = 0;
  int lost = 0;  // never ended
  Seconds mean{0};
  /// 95 % interval of the mean, by Student's t. Of fewer than two replicas: the mean itself.
  Seconds low{0};
  Seconds high{0};
  // Quantiles, nearest rank.
  Seconds p05{0};
  Seconds median{0};
  Seconds p95{0};
};

Spread spread_of(std::vector<Seconds> times, int lost);

/// All replicas of a scenario, one after another.
struct Replicated {
  /// Means of the replicas that ended, part by part, so that the parts still add up; where none
  /// did, the first.
  IterationResult mean;
  Spread spread;
};

/// `plan` is the scenario's.
Replicated run_replicas(const Scenario& scenario, const Plan& plan, const Engine& engine,
                        const Noise& noise, int replicas);

}  // namespace gradcast
