// Two-level all-reduce on N nodes of g GPUs: reduce-scatter inside each node, an all-reduce of the
// sums among the ranks that own the same chunk, which have equal local indices, and all-gather
// inside each node. The g rings across nodes turn at the same time and share their nodes' NICs.
//
// Alone, with links of (a, b) inside nodes and (A, B) between them, one NIC a node:
// 2(g-1) (a + S/g / b) + 2(N-1) (A + S/N / B).
#include "sim/network/collectives/rings.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> two_level_all_reduce_phases(const RankLayout& layout,
                                               const CollectiveLoad& load) {
  const Rings inside = rings_inside_nodes(layout, "two-level-all-reduce");
  const Rings across = rings_across_nodes(layout, "two-level-all-reduce");
  const auto all = [all = load.payload](int) { return all; };
  const auto owned = [inside, all = load.payload](int rank) {
    return chunk(all, (inside.position(rank) + 1) % inside.length, inside.length);
  };
  std::vector<Phase> phases;
  append_turns(phases, layout, inside, scattering_turns(inside, all));
  append_turns(phases, layout, across, reducing_turns(across, owned));
  append_turns(phases, layout, inside, gathering_turns(inside, all));
  return phases;
}

}  // namespace

extern constinit const Collective two_level_all_reduce{
    .name = "two-level-all-reduce",
    .summary = "rings inside nodes around rings across nodes",
    .source = "Jia et al., arXiv:1807.11205; BlueConnect, Cho et al., MLSys 2019",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = two_level_all_reduce_phases,
};

}  // namespace gradcast::collectives
