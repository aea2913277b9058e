// One iteration as a dependency graph, the same for every rank: data that can be looked at, tested
// without SimGrid, and run by every engine.
#pragma once
#include <string>
#include <vector>

#include "sim/scenario.hpp"

namespace gradcast {

enum class StepKind { Overhead, Forward, Backward, Encode, Collective, Decode, Update };

/// A rank has two streams, as a GPU has: collectives run on the one, all else on the other. Steps
/// of a stream run in the plan's order, one at a time.
struct PlanStep {
  StepKind kind = StepKind::Forward;
  std::string name;
  std::vector<std::size_t> after;  // earlier steps of the same rank that must be done
  Seconds duration{0};             // of all but collectives
  const struct Collective* collective = nullptr;  // of collectives
  Bytes payload{};
};

/// What travels together, and what compressing it takes.
struct PlannedBucket {
  std::size_t tensors = 0;
  std::int64_t elements = 0;
  std::int64_t selected = 0;  // elements that travel
  Bytes payload{};            // one rank's
  CostEstimate cost;          // zero for dense
};

struct Plan {
  std::vector<PlanStep> steps;
  std::vector<PlannedBucket> buckets;
  /// How fast each rank computes, 1 as the trace says; its size is the number of ranks.
  std::vector<double> rank_speeds;

  int ranks() const { return static_cast<int>(rank_speeds.size()); }
};

/// Forward, backward (last layer first), encode, collective, decode, update. With overlap a bucket
/// is encoded and sent as soon as backward has filled it; without, after the whole of backward.
/// Encode and decode run on the compute stream, decodes after backward and all encodes. One rank
/// alone neither compresses nor communicates. Throws DataError where the trace is of another model
/// or the cost table lacks the compressor.
Plan make_plan(const Scenario& scenario);

/// Calls that encode its buckets: one each, but for a selection per tensor of which the cost table
/// has no row of all the bucket's tensors together.
int encode_calls(const Plan& plan);

/// What the costs of its buckets rest on: "measured", "derived+published", ...; "" for dense.
std::string evidence_of(const Plan& plan);

/// The first range of the cost table that its buckets leave; "" for none.
std::string outside_of(const Plan& plan);

/// Messages that all ranks together send.
std::int64_t messages_of(const Plan& plan);

/// Throws std::logic_error where a step depends on itself or a later one.
void require_ordered(const Plan& plan);

}  // namespace gradcast
