// Reduce-scatter by rail rings (see rail_ring_all_reduce.cpp): its first half. The rank at position
// i of its ring ends with the sum of chunk i + 1 of each share of the buffer. FSDP scatters
// gradients so.
//
// Alone, as there: (n-1) S/n / (r B) + A.
#include "sim/network/collectives/rings.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> rail_ring_reduce_scatter_phases(const RankLayout& layout,
                                                   const CollectiveLoad& load) {
  const Rings rings = rails(layout);
  return turned(layout, rings, scattering_turns(rings, [all = load.payload](int) { return all; }));
}

}  // namespace

extern constinit const Collective rail_ring_reduce_scatter{
    .name = "rail-ring-reduce-scatter",
    .summary = "sums of one n-th of the buffer on every rank, by rail rings",
    .source = "NCCL's Ring on nodes of several NICs: src/graph/search.cc, src/graph/connect.cc",
    .outcome = Outcome::Scattered,
    .serves = Aggregation::AllReduce,
    .phases = rail_ring_reduce_scatter_phases,
};

}  // namespace gradcast::collectives
