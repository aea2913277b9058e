// Ring reduce-scatter: the first half of a ring all-reduce. Rank i ends with the sum of chunk i
// + 1.
//
// Alone on equal links: (n-1) (a + S/n / B).
#include "sim/network/collectives/rings.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> ring_reduce_scatter_phases(const RankLayout& layout,
                                              const CollectiveLoad& load) {
  const Rings ring = ring_of_all(layout);
  return turned(layout, ring, scattering_turns(ring, [all = load.payload](int) { return all; }));
}

}  // namespace

extern constinit const Collective ring_reduce_scatter{
    .name = "ring-reduce-scatter",
    .summary = "sums of one n-th of the buffer on every rank, by a ring",
    .source = "Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009",
    .outcome = Outcome::Scattered,
    .serves = Aggregation::AllReduce,
    .phases = ring_reduce_scatter_phases,
};

}  // namespace gradcast::collectives
