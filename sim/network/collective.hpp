// Collectives as descriptions: who sends how much to whom in which round. Engines run them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/compressor.hpp"
#include "sim/base/units.hpp"

namespace gradcast {

/// Which ranks share a node. Ranks are laid out node by node.
struct RankLayout {
  std::vector<int> first_rank;  // of each node, then the number of ranks

  int ranks() const { return first_rank.back(); }
  int nodes() const { return static_cast<int>(first_rank.size()) - 1; }
  int gpus_of(int node) const {
    return first_rank[static_cast<std::size_t>(node) + 1] -
           first_rank[static_cast<std::size_t>(node)];
  }
  int node_of(int rank) const;
  /// True where all nodes have as many GPUs.
  bool even() const;
};

/// `nodes` nodes of `gpus_per_node` GPUs.
RankLayout even_layout(int nodes, int gpus_per_node);

/// What a collective is given to carry.
struct CollectiveLoad {
  /// All-reduce, reduce-scatter: every rank's whole buffer. All-gather: the largest contribution.
  Bytes payload{};
  /// All-gather: every rank's contribution, where they are unequal; else empty.
  std::vector<Bytes> contributions{};
  /// Of a sparse payload: elements of the dense tensor, and bytes that one selected element takes.
  std::int64_t elements = 0;
  int bytes_per_element = 8;

  Bytes contribution(int rank) const {
    return contributions.empty() ? payload : contributions[static_cast<std::size_t>(rank)];
  }
};

struct Message {
  int from = 0;
  int to = 0;
  Bytes bytes{};
};

/// Rounds that use the same edges. A rank begins a round when it has sent and received what the
/// round before asked of it: a message is sent when it has left the sender, and received when it
/// has arrived, its latency later. Messages of a round go at the same time.
struct Phase {
  int rounds = 1;
  /// In the first so many rounds what is received is added to what is there.
  int reducing_rounds = 0;
  /// Every rank begins a round together with all others, as in a clocked pipeline.
  bool lockstep = false;
  /// Where all nodes have g GPUs: with (from, to) also (from + g, to + g), modulo the ranks, is a
  /// message of as many bytes (but for remainders of a division), so that one node tells all.
  bool rotational = false;
  /// Of one round, one at most from a rank to another; bytes: the most that passes there in any.
  std::vector<Message> messages{};
  /// Bytes of message i in a round, where rounds differ; empty: always as above.
  std::function<Bytes(std::size_t message, int round)> size{};
  /// Bytes of all messages of all rounds, where a description with `size` need not add them up.
  std::optional<Bytes> sum{};

  Bytes bytes_of(std::size_t message, int round) const {
    return size ? size(message, round) : messages[message].bytes;
  }
};

/// What ranks have when a collective is over.
enum class Outcome { AllReduced, AllGathered, Scattered };

/// A pure description; it knows no clock and no network.
struct Collective {
  std::string_view name;
  std::string_view summary{};
  std::string_view source{};  // paper or implementation
  Outcome outcome;
  /// Compressors whose encoding it can carry in training; of Outcome::Scattered: none by itself.
  Aggregation serves;
  /// Carries selected elements as such (it adds, merges or drops them on the way), not bytes.
  bool sparse = false;
  /// Needs k to be the same on all ranks and known before.
  bool needs_exact_count = false;
  /// Carried out around the encoding, inside each node: on dense gradients before, and on dense
  /// sums after the decoding; each rank of a node then encodes its share only. Null: none.
  const Collective* before = nullptr;
  const Collective* after = nullptr;
  /// In order; a rank goes on to the next phase as it goes on to the next round. Empty for a single
  /// rank. Throws ValueError where the layout is none that it can serve.
  std::vector<Phase> (*phases)(const RankLayout& layout, const CollectiveLoad& load);
};

/// In collectives.def order.
std::span<const Collective* const> all_collectives();

/// nullptr where there is none of that name.
const Collective* find_collective(std::string_view name);

/// The first of the table that serves: what is used where nothing else is asked for.
const Collective& default_collective(Aggregation aggregation);

/// Chunk i of n, where chunk sizes differ by at most one byte and add up to the whole.
Bytes chunk(Bytes whole, int i, int n);

/// Chunks first, first + 1, ..., last - 1 of n together.
Bytes chunks(Bytes whole, int first, int last, int n);

/// Messages of all rounds and phases.
std::int64_t messages_in(const std::vector<Phase>& phases);

/// Bytes of all messages.
Bytes bytes_in(const std::vector<Phase>& phases);

}  // namespace gradcast
