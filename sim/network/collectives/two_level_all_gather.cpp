// Two-level all-gather on N nodes of g GPUs: contributions go around among the ranks of equal local
// index first, and then, N of them at a time, around inside each node.
//
// Alone, with links of (a, b) inside nodes and (A, B) between them, one NIC a node, and
// contributions of m bytes: (N-1) (A + g m / B) + (g-1) (a + N m / b).
#include "sim/network/collectives/rings.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> two_level_all_gather_phases(const RankLayout& layout,
                                               const CollectiveLoad& load) {
  const Rings inside = rings_inside_nodes(layout, "two-level-all-gather");
  const Rings across = rings_across_nodes(layout, "two-level-all-gather");
  std::vector<Bytes> bundles(static_cast<std::size_t>(inside.length));  // by local index
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    Bytes& bundle = bundles[static_cast<std::size_t>(inside.position(rank))];
    bundle = bundle + load.contribution(rank);
  }
  std::vector<Phase> phases;
  append_turns(phases, layout, across, contribution_turns(across, load));
  append_turns(phases, layout, inside,
               {.rounds = inside.length - 1, .block = [bundles](int, int i, int) {
                  return bundles[static_cast<std::size_t>(i)];
                }});
  return phases;
}

}  // namespace

extern constinit const Collective two_level_all_gather{
    .name = "two-level-all-gather",
    .summary = "across nodes among equal local indices, then inside nodes",
    .source = "Träff, EuroPVM/MPI 2006; the all-gathers of HiTopKComm, Shi et al., MLSys 2021",
    .outcome = Outcome::AllGathered,
    .serves = Aggregation::AllGather,
    .phases = two_level_all_gather_phases,
};

}  // namespace gradcast::collectives
