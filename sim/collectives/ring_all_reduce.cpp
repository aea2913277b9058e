// Ring all-reduce: n-1 rounds of reduce-scatter, then n-1 rounds of all-gather.
// In round r, rank i passes chunk (i - r) mod n to its right neighbour.
#include "sim/collective.hpp"

namespace gradcast::collectives {
namespace {

int rounds(int ranks) { return 2 * (ranks - 1); }

Step step(int rank, int round, int ranks, Bytes payload) {
  const int passed = ((rank - round) % ranks + ranks) % ranks;
  return {(rank + 1) % ranks, (rank + ranks - 1) % ranks, chunk(payload, passed, ranks)};
}

}  // namespace

extern constinit const Collective ring_all_reduce{
    .name = "ring-all-reduce",
    .summary = "reduce-scatter, then all-gather, around a ring",
    .serves = Aggregation::AllReduce,
    .rounds_alike = true,
    .rounds = rounds,
    .step = step,
};

}  // namespace gradcast::collectives
