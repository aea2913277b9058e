// Ring all-reduce: n - 1 rounds of reduce-scatter, then n - 1 rounds of all-gather. In round r,
// rank i passes chunk (i - r) mod n to its right neighbour.
//
// Alone on equal links: 2(n-1) (a + S/n / B), for S bytes, latency a and bandwidth B.
#include "sim/network/collectives/rings.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> ring_all_reduce_phases(const RankLayout& layout, const CollectiveLoad& load) {
  const Rings ring = ring_of_all(layout);
  return turned(layout, ring, reducing_turns(ring, [all = load.payload](int) { return all; }));
}

}  // namespace

extern constinit const Collective ring_all_reduce{
    .name = "ring-all-reduce",
    .summary = "reduce-scatter, then all-gather, around a ring",
    .source = "Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009; NCCL's Ring",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = ring_all_reduce_phases,
};

}  // namespace gradcast::collectives
