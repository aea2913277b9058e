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

/// The bytes of a block that pass through a channel.
Bytes share_of(const Rings& rings, const Turns& turns, int rank, int block, int channel) {
  const Bytes bytes = turns.block ? turns.block(rank, block, channel)
                                  : chunk(turns.whole(rank), block, rings.length);
  return chunk(bytes, channel, rings.channels);
}

/// The bytes of all blocks of a ring.
struct Extremes {
  Bytes largest{-1};
  Bytes second{-1};
  int index_of_largest = 0;
  Bytes smallest{};
  Bytes sum{};
};

/// The first chunks are a byte larger where the whole is not a multiple of their number.
Extremes extremes_of_chunks(Bytes whole, int n) {
  const std::int64_t larger = whole.count % n;
  return {.largest = chunk(whole, 0, n),
          .second = chunk(whole, larger == 1 ? n - 1 : 0, n),
          .index_of_largest = 0,
          .smallest = chunk(whole, n - 1, n),
          .sum = whole};
}

Extremes extremes_of(const Rings& rings, const Turns& turns, int rank, int channel) {
  // Most rings are such, and a large one has many blocks.
  if (!turns.block && rings.channels == 1)
    return extremes_of_chunks(turns.whole(rank), rings.length);
  Extremes of;
  of.smallest = share_of(rings, turns, rank, 0, channel);
  for (int i = 0; i < rings.length; ++i) {
    const Bytes bytes = share_of(rings, turns, rank, i, channel);
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

}  // namespace

int Rings::position(int rank, int channel) const {
  if (channels == 1) return rank / stride % length;
  const int node = nodes.node_of(rank);
  const int first = nodes.first_rank[static_cast<std::size_t>(node)];
  const int gpus = nodes.gpus_of(node);
  return first + (rank - first - channel % gpus + gpus) % gpus;
}

int Rings::member(int rank, int position, int channel) const {
  if (channels == 1) return rank + (position - this->position(rank)) * stride;
  const int node = nodes.node_of(position);
  const int first = nodes.first_rank[static_cast<std::size_t>(node)];
  return first + (position - first + channel) % nodes.gpus_of(node);
}

std::vector<int> Rings::firsts(int ranks, int channel) const {
  if (channels > 1) return {member(0, 0, channel)};  // one ring of all
  std::vector<int> firsts;
  for (int rank = 0; rank < ranks; ++rank)
    if (position(rank) == 0) firsts.push_back(rank);
  return firsts;
}

std::vector<int> Rings::order(int first, int channel) const {
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(length));
  if (channels == 1)
    for (int i = 0; i < length; ++i) order.push_back(first + i * stride);
  else
    for (int node = 0; node < nodes.nodes(); ++node)
      for (int i = 0; i < nodes.gpus_of(node); ++i)
        order.push_back(nodes.first_rank[static_cast<std::size_t>(node)] +
                        (i + channel) % nodes.gpus_of(node));
  return order;
}

Rings ring_of_all(const RankLayout& layout) { return {.stride = 1, .length = layout.ranks()}; }

Rings rails(const RankLayout& layout) {
  const int gpus = layout.most_gpus();
  if (gpus == 1 || layout.nodes() == 1) return ring_of_all(layout);
  return {.stride = 1, .length = layout.ranks(), .channels = gpus, .nodes = layout};
}

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
  const auto index = [n, ahead = turns.ahead](int position, int round) {
    return ((position + ahead - round) % n + n) % n;
  };

  Phase phase{.rounds = turns.rounds,
              .channels = rings.channels,
              .reducing_rounds = turns.reducing_rounds,
              .rotational = turns.blocks_alike && layout.even()};
  const auto ranks = static_cast<std::size_t>(layout.ranks());
  phase.messages.resize(ranks * static_cast<std::size_t>(rings.channels));
  Bytes sum{};
  bool equal = true;
  for (int channel = 0; channel < rings.channels; ++channel)
    for (const int first : rings.firsts(layout.ranks(), channel)) {
      const std::vector<int> order = rings.order(first, channel);
      const Extremes of = extremes_of(rings, turns, first, channel);
      for (int i = 0; i < n; ++i) {
        const int rank = order[static_cast<std::size_t>(i)];
        const int next = order[static_cast<std::size_t>((i + 1) % n)];
        // In n - 1 rounds all blocks but one pass: that which would be next.
        const bool largest_passes = turns.rounds >= n || index(i, n - 1) != of.index_of_largest;
        phase.messages[static_cast<std::size_t>(channel) * ranks + static_cast<std::size_t>(rank)] =
            {rank, next, largest_passes ? of.largest : of.second, channel};
      }
      sum = sum + of.sum;
      equal = equal && of.smallest == of.largest;
    }
  if (!equal) {
    phase.size = [index, rings, turns, ranks](std::size_t message, int round) {
      const int rank = static_cast<int>(message % ranks);
      const int channel = static_cast<int>(message / ranks);
      return share_of(rings, turns, rank, index(rings.position(rank, channel), round), channel);
    };
    phase.sum = sum * turns.rounds;  // every block is passed once in a round
  }
  phases.push_back(std::move(phase));
}

std::vector<Phase> turned(const RankLayout& layout, const Rings& rings, const Turns& turns) {
  std::vector<Phase> phases;
  append_turns(phases, layout, rings, turns);
  return phases;
}

Turns scattering_turns(const Rings& rings, std::function<Bytes(int rank)> whole) {
  return {.rounds = rings.length - 1,
          .reducing_rounds = rings.length - 1,
          .whole = std::move(whole)};
}

Turns gathering_turns(const Rings& rings, std::function<Bytes(int rank)> whole) {
  return {.rounds = rings.length - 1, .ahead = 1, .whole = std::move(whole)};
}

Turns reducing_turns(const Rings& rings, std::function<Bytes(int rank)> whole) {
  return {.rounds = 2 * (rings.length - 1),
          .reducing_rounds = rings.length - 1,
          .whole = std::move(whole)};
}

Turns contribution_turns(const Rings& rings, const CollectiveLoad& load) {
  return {.rounds = rings.length - 1,
          .blocks_alike = load.contributions.empty(),
          .block = [rings, load](int rank, int i, int channel) {
            return load.contribution(rings.member(rank, i, channel));
          }};
}

}  // namespace gradcast::collectives
