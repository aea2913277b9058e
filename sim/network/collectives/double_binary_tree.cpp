// Double binary tree: two trees over all ranks, each of which reduces and broadcasts one half of
// the buffer. A rank that passes on in one of them is a leaf of the other, so that all links are in
// use.
//
// The first tree is in order: the children of a rank whose lowest bit is b are b/2 below and above
// it; odd ranks are leaves, and rank 0 is above all with one child. The second is its mirror image,
// in which even ranks are leaves. If the number of ranks is odd, the last is a second child of both
// roots (NCCL shifts the second tree by one instead, by which rank 0 passes on in both).
//
// Halves go in m chunks, up first and then down. In a round every level passes the chunk that it
// received in the round before, so that m + D - 1 rounds bring m chunks through D levels: fill,
// steady rounds with all levels, drain. Chunks have at most 512 KiB, as NCCL's; smaller buffers
// have as many chunks as levels so long as a chunk has 64 KiB.
//
// Alone on equal links, n = 2^D > 2, chunks of c bytes: 2 ((m + D - 1) (a + 2c / B) - c / B), since
// every rank passes two chunks a round, but for the one that only the root's child sends or gets.
#include "sim/network/collectives/trees.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> double_binary_tree_phases(const RankLayout& layout, const CollectiveLoad& load) {
  return up_and_down(double_tree(layout.ranks()), 2, load.payload);
}

}  // namespace

extern constinit const Collective double_binary_tree{
    .name = "double-binary-tree",
    .summary = "one half of the buffer up and down each of two trees, in chunks",
    .source = "Sanders, Speck and Träff, Parallel Comput. 35(12), 2009; NCCL's Tree",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = double_binary_tree_phases,
};

}  // namespace gradcast::collectives
