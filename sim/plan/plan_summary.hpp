// Summary of a finished plan: how much it encodes and sends, by which collectives, and the evidence
// for its costs.
#pragma once
#include <cstdint>
#include <string>
#include <tuple>

#include "sim/inputs/cluster.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast {

/// Calls that encode its buckets: one each, but for a selection per tensor of which the cost table
/// has no row of all the bucket's tensors together.
int encode_calls(const Plan& plan);

/// Evidence for the costs of its buckets: "measured", "derived+published", ...; "" for dense.
std::string evidence_of(const Plan& plan);

/// 90 % factors of what its buckets cost together.
CostFactors cost_factors_of(const Plan& plan);

/// The first range of the cost table that its buckets leave; "" for none.
std::string outside_of(const Plan& plan);

/// The collectives of its buckets and of what is sharded, each once: "ring-all-reduce",
/// "double-binary-tree+ring-..."; "" where nothing is sent.
std::string collectives_of(const Plan& plan);

/// Everything that decides the phases of a collective in one job. Steps with equal keys do the
/// same.
inline auto phases_key(const PlanStep& step) {
  const CollectiveLoad& load = step.load;
  return std::tuple(step.collective, step.groups.stride, step.groups.length, load.payload,
                    load.contributions, load.elements, load.bytes_per_element, load.protocol,
                    load.root);
}

/// Bytes that a rank sends in an iteration: the mean over all ranks.
double sent_bytes_per_rank(const Plan& plan, const Cluster& cluster);

/// Messages that all ranks together send.
std::int64_t messages_of(const Plan& plan, const Cluster& cluster);

}  // namespace gradcast
