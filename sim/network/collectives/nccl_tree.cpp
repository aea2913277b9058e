// NCCL's tree: a double binary tree over the nodes, and in each node a chain of its GPUs, whose
// first one is the node's place in the trees. Each GPU of a node is the first of one chain: that of
// channel j is GPU j, j + 1, ..., j - 1. A channel has an equal share of the buffer, one half for
// each of the two trees, so that all NICs of a node are in use. (NCCL takes as many channels as
// there are paths to NICs, and on some machines lets the chain's second GPU talk to children.)
//
// Chunks go up the chains and trees and down again as in double_binary_tree.cpp: a chain is g - 1
// more levels. With one GPU a node it is that collective, and in one node a chain.
//
// Alone, on N = 2^D > 2 nodes of two GPUs, NICs of latency A and bandwidth B, r a node, links
// inside of a and b that are not what limits, chunks of c bytes (S = 4 m c): a round inside the
// nodes, and m + D - 1 in which the busiest node passes two chunks of each channel, but for the
// last with one, up and down: 2 ((a + c / b) + (m + D - 1) (A + 4 c / (r B)) - 2 c / (r B)).
#include <algorithm>

#include "sim/network/collectives/trees.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> nccl_tree_phases(const RankLayout& layout, const CollectiveLoad& load) {
  const int channels = layout.most_gpus();
  // The rank at a place of a channel's chain.
  const auto member = [&](int node, int channel, int place) {
    return layout.first_rank[static_cast<std::size_t>(node)] +
           (channel + place) % layout.gpus_of(node);
  };

  const std::vector<TreeEdge> of_nodes = double_tree(layout.nodes());
  std::vector<TreeEdge> edges;
  for (int channel = 0; channel < channels; ++channel) {
    // By tree and node: its depth.
    std::vector<int> depths(2 * static_cast<std::size_t>(layout.nodes()), 0);
    for (const TreeEdge& edge : of_nodes) {
      edges.push_back({2 * channel + edge.part, member(edge.child, channel, 0),
                       member(edge.parent, channel, 0), edge.depth});
      depths[2 * static_cast<std::size_t>(edge.child) + static_cast<std::size_t>(edge.part)] =
          edge.depth;
    }
    for (int node = 0; node < layout.nodes(); ++node)
      for (int place = 1; place < layout.gpus_of(node); ++place)
        for (const int tree : {0, 1})
          edges.push_back(
              {2 * channel + tree, member(node, channel, place), member(node, channel, place - 1),
               depths[2 * static_cast<std::size_t>(node) + static_cast<std::size_t>(tree)] +
                   place});
  }
  return up_and_down(std::move(edges), 2 * channels, load.payload);
}

}  // namespace

extern constinit const Collective nccl_tree{
    .name = "nccl-tree",
    .summary = "double binary trees over nodes, a chain of GPUs in each, over all NICs",
    .source = "NCCL's Tree: src/graph/trees.cc, src/graph/connect.cc",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = nccl_tree_phases,
};

}  // namespace gradcast::collectives
