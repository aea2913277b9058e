// Double binary tree: two trees over all ranks, each of which reduces and broadcasts one half of
// the buffer. A rank that passes on in one of them is a leaf of the other, so that all links are in
// use.
//
// The first tree is in order: the children of a rank whose lowest bit is b are b/2 below and above
// it; odd ranks are leaves, and rank 0 is above all with one child. The second is its mirror image,
// in which even ranks are leaves. Of an odd number of ranks the last is a second child of both
// roots (NCCL shifts the second tree by one instead, by which rank 0 passes on in both).
//
// Halves go in m chunks, up first and then down. In a round every level passes the chunk that it
// received in the round before, so that m + D - 1 rounds bring m chunks through D levels: fill,
// steady rounds with all levels, drain. Chunks have at most 512 KiB, as NCCL's; smaller buffers
// have as many chunks as levels so long as a chunk has 64 KiB.
//
// Alone on equal links, n = 2^D > 2, chunks of c bytes: 2 ((m + D - 1) (a + 2c / B) - c / B), since
// every rank passes two chunks a round, but for the one that only the root's child sends or gets.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "sim/network/collective.hpp"

namespace gradcast::collectives {
namespace {

constexpr std::int64_t kMostChunkBytes = 512 * 1024;
constexpr std::int64_t kLeastChunkBytes = 64 * 1024;

/// An edge of one of the trees.
struct Edge {
  int tree;
  int child;
  int parent;
  int depth;  // of the child; roots have 0
};

/// In the first tree, of an even number of ranks.
int parent_of(int rank, int ranks) {
  const int bit = rank & -rank;
  const int above = (rank - bit) | (2 * bit);
  return above < ranks ? above : rank - bit;  // the right end of the tree is cut off
}

int depth_of(int rank, int ranks) {
  int depth = 0;
  for (; rank != 0; rank = parent_of(rank, ranks)) ++depth;
  return depth;
}

std::vector<Edge> edges_of_both(int ranks) {
  const int even = ranks - ranks % 2;
  const auto mirror = [even](int rank) { return even - 1 - rank; };
  std::vector<Edge> edges;
  for (int rank = 1; rank < even; ++rank) {
    const int parent = parent_of(rank, even);
    const int depth = depth_of(rank, even);
    edges.push_back({0, rank, parent, depth});
    edges.push_back({1, mirror(rank), mirror(parent), depth});
  }
  if (ranks > even) {
    edges.push_back({0, even, 0, 1});
    edges.push_back({1, even, mirror(0), 1});
  }
  return edges;
}

int chunks_in(Bytes half, int levels) {
  const std::int64_t least = (half.count + kMostChunkBytes - 1) / kMostChunkBytes;
  const std::int64_t fitting = std::min<std::int64_t>(levels, half.count / kLeastChunkBytes);
  return static_cast<int>(std::max({std::int64_t{1}, least, fitting}));
}

enum class Direction { Up, Down };

struct Pipeline {
  std::vector<Edge> edges;
  int levels;
  int chunks;
  Bytes halves[2];

  /// Levels whose edges are in use in a round, both included; counted from where chunks come in.
  std::pair<int, int> stages(int round) const {
    return {std::max(0, round - chunks + 1), std::min(round, levels - 1)};
  }
  int stage_of(const Edge& edge, Direction direction) const {
    return direction == Direction::Up ? levels - edge.depth : edge.depth - 1;
  }
};

/// `rounds` rounds with the same edges.
Phase lockstep(const Pipeline& pipeline, Direction direction, int first_round, int rounds) {
  const auto [from_stage, to_stage] = pipeline.stages(first_round);
  const bool up = direction == Direction::Up;
  const auto half = [&](const Edge& edge) { return pipeline.halves[edge.tree]; };

  Phase phase{.rounds = rounds, .reducing_rounds = up ? rounds : 0, .lockstep = true};
  std::vector<std::pair<Bytes, int>> passed;  // by message: of which half, and its first chunk
  Bytes sum{};
  for (const Edge& edge : pipeline.edges) {
    const int stage = pipeline.stage_of(edge, direction);
    if (stage < from_stage || stage > to_stage) continue;
    const int first = first_round - stage;
    // The first chunks are the larger ones.
    const Bytes most = chunk(half(edge), first, pipeline.chunks);
    phase.messages.push_back(up ? Message{edge.child, edge.parent, most}
                                : Message{edge.parent, edge.child, most});
    passed.emplace_back(half(edge), first);
    sum = sum + chunks(half(edge), first, first + rounds, pipeline.chunks);
  }
  if (rounds > 1) {
    phase.size = [passed = std::move(passed), n = pipeline.chunks](std::size_t message, int round) {
      const auto& [whole, first] = passed[message];
      return chunk(whole, first + round, n);
    };
    phase.sum = sum;
  }
  return phase;
}

std::vector<Phase> phases(const RankLayout& layout, const CollectiveLoad& load) {
  std::vector<Phase> phases;
  if (layout.ranks() == 1) return phases;
  Pipeline pipeline{.edges = edges_of_both(layout.ranks()),
                    .levels = 0,
                    .chunks = 0,
                    .halves = {chunk(load.payload, 0, 2), chunk(load.payload, 1, 2)}};
  for (const Edge& edge : pipeline.edges) pipeline.levels = std::max(pipeline.levels, edge.depth);
  pipeline.chunks = chunks_in(pipeline.halves[0], pipeline.levels);

  const int all = pipeline.chunks + pipeline.levels - 1;
  for (const Direction direction : {Direction::Up, Direction::Down})
    for (int round = 0, next; round < all; round = next) {
      next = round + 1;
      while (next < all && pipeline.stages(next) == pipeline.stages(round)) ++next;
      phases.push_back(lockstep(pipeline, direction, round, next - round));
    }
  return phases;
}

}  // namespace

extern constinit const Collective double_binary_tree{
    .name = "double-binary-tree",
    .summary = "one half of the buffer up and down each of two trees, in chunks",
    .source = "Sanders, Speck and Träff, Parallel Comput. 35(12), 2009; NCCL's Tree",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = phases,
};

}  // namespace gradcast::collectives
