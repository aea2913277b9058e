// Rail rings: as many rings through all ranks as a node has GPUs, each for its share of the buffer,
// and each entering and leaving all nodes at GPUs, so at NICs, of its own. So NCCL builds its rings
// on nodes of several NICs (a channel each; src/graph/search.cc looks for the paths that no two
// channels share). A single ring leaves every node through one NIC, whatever others there are.
//
// Alone, on N nodes of g GPUs, n = N g ranks, with r NICs a node (r divides g) of latency A and
// bandwidth B, and with links inside nodes that are not what limits: each NIC passes S/n/r in each
// of 2(n-1) rounds, and the last has to arrive: 2(n-1) S/n / (r B) + A. An empty buffer takes what
// it takes one ring: a chunk's slowest walk over 2(n-1) edges, 2N of them between nodes (g > 2).
#include "sim/network/collectives/rings.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> rail_ring_all_reduce_phases(const RankLayout& layout,
                                               const CollectiveLoad& load) {
  const Rings rings = rails(layout);
  return turned(layout, rings, reducing_turns(rings, [all = load.payload](int) { return all; }));
}

}  // namespace

extern constinit const Collective rail_ring_all_reduce{
    .name = "rail-ring-all-reduce",
    .summary = "a ring for each GPU of a node, over a NIC of its own",
    .source = "NCCL's Ring on nodes of several NICs: src/graph/search.cc, src/graph/connect.cc",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = rail_ring_all_reduce_phases,
};

}  // namespace gradcast::collectives
