#include "sim/network/collectives/trees.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

namespace gradcast::collectives {
namespace {

constexpr std::int64_t kMostChunkBytes = 512 * 1024;
constexpr std::int64_t kLeastChunkBytes = 64 * 1024;

/// The parent in the first tree, of an even number of ranks.
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

int chunks_in(Bytes part, int levels) {
  const std::int64_t least = (part.count + kMostChunkBytes - 1) / kMostChunkBytes;
  const std::int64_t fitting = std::min<std::int64_t>(levels, part.count / kLeastChunkBytes);
  return static_cast<int>(std::max({std::int64_t{1}, least, fitting}));
}

enum class Direction { Up, Down };

struct Pipeline {
  std::vector<TreeEdge> edges;  // by their ends
  int levels = 0;
  int chunks = 0;
  std::vector<Bytes> before;  // by part and chunk, and at its end: the bytes of the chunks before

  /// Levels whose edges are in use in a round, both included; counted from where chunks come in.
  std::pair<int, int> stages(int round) const {
    return {std::max(0, round - chunks + 1), std::min(round, levels - 1)};
  }
  int stage_of(const TreeEdge& edge, Direction direction) const {
    return direction == Direction::Up ? levels - edge.depth : edge.depth - 1;
  }
  /// The bytes that pass an edge in some rounds.
  Bytes passed(const TreeEdge& edge, Direction direction, int round, int rounds = 1) const {
    const int first = edge.part * (chunks + 1) + round - stage_of(edge, direction);
    return {before[static_cast<std::size_t>(first + rounds)].count -
            before[static_cast<std::size_t>(first)].count};
  }
};

/// `rounds` rounds with the same edges. All bytes between the same two ranks are one message.
Phase lockstep(const std::shared_ptr<const Pipeline>& pipeline, Direction direction,
               int first_round, int rounds) {
  const auto [from_stage, to_stage] = pipeline->stages(first_round);
  const bool up = direction == Direction::Up;

  Phase phase{.rounds = rounds, .reducing_rounds = up ? rounds : 0, .lockstep = true};
  std::vector<std::uint32_t> used;      // edges
  std::vector<std::uint32_t> first_of;  // by message: of used
  Bytes sum{};
  for (std::size_t i = 0; i < pipeline->edges.size(); ++i) {
    const TreeEdge& edge = pipeline->edges[i];
    const int stage = pipeline->stage_of(edge, direction);
    if (stage < from_stage || stage > to_stage) continue;
    const auto [from, to] =
        up ? std::pair(edge.child, edge.parent) : std::pair(edge.parent, edge.child);
    const bool known = !phase.messages.empty() && phase.messages.back().from == from &&
                       phase.messages.back().to == to;
    if (!known) {
      phase.messages.push_back({from, to, Bytes{}});
      first_of.push_back(static_cast<std::uint32_t>(used.size()));
    }
    used.push_back(static_cast<std::uint32_t>(i));
    // The first chunks are the larger ones.
    Bytes& most = phase.messages.back().bytes;
    most = most + pipeline->passed(edge, direction, first_round);
    sum = sum + pipeline->passed(edge, direction, first_round, rounds);
  }
  if (rounds > 1) {
    first_of.push_back(static_cast<std::uint32_t>(used.size()));
    phase.size = [pipeline, direction, first_round, used = std::move(used),
                  first_of = std::move(first_of)](std::size_t message, int round) {
      Bytes all{};
      for (std::uint32_t i = first_of[message]; i < first_of[message + 1]; ++i)
        all = all + pipeline->passed(pipeline->edges[used[i]], direction, first_round + round);
      return all;
    };
    phase.sum = sum;
  }
  return phase;
}

/// The level of a binomial tree between ranks `distance` apart, a power of two.
Phase binomial_level(int ranks, int distance, Bytes bytes, Direction direction) {
  const bool up = direction == Direction::Up;
  Phase phase{.reducing_rounds = up ? 1 : 0, .lockstep = up};
  for (int child = distance; child < ranks; child += 2 * distance) {
    const int parent = child - distance;
    phase.messages.push_back(up ? Message{child, parent, bytes} : Message{parent, child, bytes});
  }
  return phase;
}

}  // namespace

std::vector<TreeEdge> double_tree(int ranks) {
  const int even = ranks - ranks % 2;
  const auto mirror = [even](int rank) { return even - 1 - rank; };
  std::vector<TreeEdge> edges;
  for (int rank = 1; rank < even; ++rank) {
    const int parent = parent_of(rank, even);
    const int depth = depth_of(rank, even);
    edges.push_back({0, rank, parent, depth});
    edges.push_back({1, mirror(rank), mirror(parent), depth});
  }
  if (ranks > even && even > 0) {
    edges.push_back({0, even, 0, 1});
    edges.push_back({1, even, mirror(0), 1});
  }
  return edges;
}

std::vector<Phase> up_and_down(std::vector<TreeEdge> edges, int parts, Bytes payload) {
  std::vector<Phase> phases;
  if (edges.empty()) return phases;
  const auto pipeline = std::make_shared<Pipeline>();
  std::stable_sort(edges.begin(), edges.end(), [](const TreeEdge& a, const TreeEdge& b) {
    return std::tie(a.child, a.parent) < std::tie(b.child, b.parent);
  });
  pipeline->edges = std::move(edges);
  for (const TreeEdge& edge : pipeline->edges)
    pipeline->levels = std::max(pipeline->levels, edge.depth);
  pipeline->chunks = chunks_in(chunk(payload, 0, parts), pipeline->levels);
  for (int part = 0; part < parts; ++part)
    for (int i = 0; i <= pipeline->chunks; ++i)
      pipeline->before.push_back(chunks(chunk(payload, part, parts), 0, i, pipeline->chunks));

  const int all = pipeline->chunks + pipeline->levels - 1;
  for (const Direction direction : {Direction::Up, Direction::Down})
    for (int round = 0, next; round < all; round = next) {
      next = round + 1;
      while (next < all && pipeline->stages(next) == pipeline->stages(round)) ++next;
      phases.push_back(lockstep(pipeline, direction, round, next - round));
    }
  return phases;
}

std::vector<Phase> up_and_down_binomial(int ranks, Bytes bytes) {
  std::vector<Phase> phases;
  int distance = 1;
  for (; distance < ranks; distance *= 2)
    phases.push_back(binomial_level(ranks, distance, bytes, Direction::Up));
  while ((distance /= 2) >= 1)
    phases.push_back(binomial_level(ranks, distance, bytes, Direction::Down));
  return phases;
}

}  // namespace gradcast::collectives
