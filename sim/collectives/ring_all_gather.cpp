// Ring all-gather: in n-1 rounds, every rank passes on what it received last.
#include "sim/collective.hpp"

namespace gradcast::collectives {
namespace {

int rounds(int ranks) { return ranks - 1; }

Step step(int rank, int, int ranks, Bytes payload) {
  return {(rank + 1) % ranks, (rank + ranks - 1) % ranks, payload};
}

}  // namespace

extern constinit const Collective ring_all_gather{
    .name = "ring-all-gather",
    .summary = "every rank's contribution passed around a ring",
    .serves = Aggregation::AllGather,
    .rounds_alike = true,
    .rounds = rounds,
    .step = step,
};

}  // namespace gradcast::collectives
