// HiTopKComm on N nodes of g GPUs: dense gradients are reduce-scattered inside each node, every
// rank selects from the sums of its own 1/g of the elements, pairs go around among the ranks of
// equal local index, and the dense sums of the shards are gathered inside each node.
//
// Alone, with links of (a, b) inside nodes and (A, B) between them, one NIC a node, a tensor of D
// dense bytes and m bytes of pairs a rank:
// (g-1) (a + D/g / b), then (N-1) (A + g m / B), then (g-1) (a + D/g / b).
#include "sim/network/collectives/rings.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> scatter_phases(const RankLayout& layout, const CollectiveLoad& load) {
  const Rings inside = rings_inside_nodes(layout, "two-level-sparse");
  return turned(layout, inside,
                scattering_turns(inside, [all = load.payload](int) { return all; }));
}

std::vector<Phase> pair_phases(const RankLayout& layout, const CollectiveLoad& load) {
  const Rings across = rings_across_nodes(layout, "two-level-sparse");
  return turned(layout, across, contribution_turns(across, load));
}

std::vector<Phase> gather_phases(const RankLayout& layout, const CollectiveLoad& load) {
  const Rings inside = rings_inside_nodes(layout, "two-level-sparse");
  return turned(layout, inside, gathering_turns(inside, [all = load.payload](int) { return all; }));
}

// Parts of the whole and no choices by themselves, so they are not in the table. The payload of
// both is the whole dense tensor.
constexpr Collective kNodeReduceScatter{
    .name = "node-reduce-scatter",
    .summary = "sums of one g-th of the buffer on each of a node's g GPUs",
    .source = "Shi et al., MLSys 2021",
    .outcome = Outcome::Scattered,
    .serves = Aggregation::AllReduce,
    .phases = scatter_phases,
};

constexpr Collective kNodeAllGather{
    .name = "node-all-gather",
    .summary = "the g-th of the buffer of each of a node's g GPUs, on all of them",
    .source = "Shi et al., MLSys 2021",
    .outcome = Outcome::AllGathered,
    .serves = Aggregation::AllReduce,
    .phases = gather_phases,
};

}  // namespace

extern constinit const Collective two_level_sparse{
    .name = "two-level-sparse",
    .summary = "dense inside nodes, selected elements across nodes",
    .source = "HiTopKComm of MSTopK, Shi et al., MLSys 2021",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllGather,
    .sparse = true,
    .before = &kNodeReduceScatter,
    .after = &kNodeAllGather,
    .phases = pair_phases,
};

}  // namespace gradcast::collectives
