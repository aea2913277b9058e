// Collectives as descriptions: who sends how much to whom in which round. Engines run them.
#pragma once
#include <span>
#include <string_view>

#include "kernels/compressor.hpp"
#include "sim/units.hpp"

namespace gradcast {

/// What one rank does in one round: send to one peer while receiving from another.
struct Step {
  int send_to;
  int receive_from;
  Bytes send;
};

/// A pure description; it knows no clock and no network. A rank begins a round when it has sent and
/// received what the round before asked of it.
struct Collective {
  std::string_view name;
  std::string_view summary;
  Aggregation serves;
  /// Every round uses the same edges, with chunks that differ by a byte at most: one round tells
  /// all.
  bool rounds_alike;
  int (*rounds)(int ranks);
  /// payload: the whole buffer of an all-reduce, one rank's contribution to an all-gather.
  Step (*step)(int rank, int round, int ranks, Bytes payload);
};

/// In collectives.def order.
std::span<const Collective* const> all_collectives();

/// nullptr where there is none of that name.
const Collective* find_collective(std::string_view name);

/// The first of the table that serves: what is used where nothing else is asked for.
const Collective& default_collective(Aggregation aggregation);

/// Chunk i of n, where chunk sizes differ by at most one byte and add up to the whole.
Bytes chunk(Bytes whole, int i, int n);

}  // namespace gradcast
