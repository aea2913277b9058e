#include "sim/network/collectives/rings.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/base/error.hpp"

namespace gradcast::collectives {
namespace {

void require_even(const RankLayout& layout, std::string_view collective) {
  if (layout.even()) return;
  int least = layout.gpus_of(0), most = layout.gpus_of(0);
  for (int node = 1; node < layout.nodes(); ++node) {
    least = std::min(least, layout.gpus_of(node));
    most = std::max(most, layout.gpus_of(node));
  }
  throw ValueError(std::string(collective) +
                   " needs as many GPUs in every node, and here nodes have " +
                   std::to_string(least) + " to " + std::to_string(most) +
                   "; use a collective of one level, as ring-all-reduce, ring-all-gather or gtopk");
}

/// The bytes of all blocks of a ring.
struct Extremes {
  Bytes largest{-1};
  Bytes second{-1};
  int index_of_largest = 0;
  Bytes smallest{};
  Bytes sum{};
};

Extremes extremes_of(const Rings& rings, const Turns& turns, int rank) {
  Extremes of;
  of.smallest = turns.block(rank, 0);
  for (int i = 0; i < rings.length; ++i) {
    const Bytes bytes = turns.block(rank, i);
    if (bytes > of.largest) {
      of.second = std::exchange(of.largest, bytes);
      of.index_of_largest = i;
    } else {
      of.second = std::max(of.second, bytes);
    }
    of.smallest = std::min(of.smallest, bytes);
    of.sum = of.sum + bytes;
  }
  return of;
}

std::function<Bytes(int, int)> chunks_of(const Rings& rings, std::function<Bytes(int rank)> whole) {
  return [n = rings.length, whole = std::move(whole)](int rank, int i) {
    return chunk(whole(rank), i, n);
  };
}

}  // namespace

Rings ring_of_all(const RankLayout& layout) { return {.stride = 1, .length = layout.ranks()}; }

Rings rings_inside_nodes(const RankLayout& layout, std::string_view collective) {
  require_even(layout, collective);
  return {.stride = 1, .length = layout.gpus_of(0)};
}

Rings rings_across_nodes(const RankLayout& layout, std::string_view collective) {
  require_even(layout, collective);
  return {.stride = layout.gpus_of(0), .length = layout.nodes()};
}

void append_turns(std::vector<Phase>& phases, const RankLayout& layout, const Rings& rings,
                  const Turns& turns) {
  const int n = rings.length;
  if (n == 1) return;
  const auto index = [rings, n, ahead = turns.ahead](int rank, int round) {
    return ((rings.position(rank) + ahead - round) % n + n) % n;
  };

  Phase phase{.rounds = turns.rounds,
              .reducing_rounds = turns.reducing_rounds,
              .rotational = turns.blocks_alike && layout.even()};
  phase.messages.resize(static_cast<std::size_t>(layout.ranks()));
  Bytes sum{};
  bool equal = true;
  for (int first = 0; first < layout.ranks(); ++first) {
    if (rings.position(first) != 0) continue;
    const Extremes of = extremes_of(rings, turns, first);
    for (int i = 0; i < n; ++i) {
      const int rank = rings.member(first, i);
      // In n - 1 rounds all blocks but one pass: that which would be next.
      const bool largest_passes = turns.rounds >= n || index(rank, n - 1) != of.index_of_largest;
      phase.messages[static_cast<std::size_t>(rank)] = {rank, rings.member(rank, (i + 1) % n),
                                                        largest_passes ? of.largest : of.second};
    }
    sum = sum + of.sum;
    equal = equal && of.smallest == of.largest;
  }
  if (!equal) {
    phase.size = [index, block = turns.block](std::size_t message, int round) {
      const int rank = static_cast<int>(message);
      return block(rank, index(rank, round));
    };
    phase.sum = sum * turns.rounds;  // every block is passed once in a round
  }
  phases.push_back(std::move(phase));
}

Turns scattering_turns(const Rings& rings, std::function<Bytes(int rank)> whole) {
  return {.rounds = rings.length - 1,
          .reducing_rounds = rings.length - 1,
          .block = chunks_of(rings, std::move(whole))};
}

Turns gathering_turns(const Rings& rings, std::function<Bytes(int rank)> whole) {
  return {.rounds = rings.length - 1, .ahead = 1, .block = chunks_of(rings, std::move(whole))};
}

Turns reducing_turns(const Rings& rings, std::function<Bytes(int rank)> whole) {
  return {.rounds = 2 * (rings.length - 1),
          .reducing_rounds = rings.length - 1,
          .block = chunks_of(rings, std::move(whole))};
}

Turns contribution_turns(const Rings& rings, const CollectiveLoad& load) {
  return {
      .rounds = rings.length - 1,
      .blocks_alike = load.contributions.empty(),
      .block = [rings, load](int rank, int i) { return load.contribution(rings.member(rank, i)); }};
}

}  // namespace gradcast::collectives
