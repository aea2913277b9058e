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

/// Ranks of each node. Ranks are laid out node by node.
struct RankLayout {
  std::vector<int> first_rank;  // of each node, then the number of ranks

  int ranks() const { return first_rank.back(); }
  int nodes() const { return static_cast<int>(first_rank.size()) - 1; }
  int gpus_of(int node) const {
    return first_rank[static_cast<std::size_t>(node) + 1] -
           first_rank[static_cast<std::size_t>(node)];
  }
  int most_gpus() const;  // of a node
  int node_of(int rank) const;
  /// True where all nodes have as many GPUs.
  bool even() const;
};

/// `nodes` nodes of `gpus_per_node` GPUs.
RankLayout even_layout(int nodes, int gpus_per_node);

/// A library's protocol: how it moves a message, beside the network itself.
struct Protocol {
  std::string_view name{};  // "LL", "LL128", "Simple"; "": none, and messages go as they are
  /// Bytes of link time for each byte of payload: 2 for LL, which sends a flag with every word.
  double link_time = 1;
  double link_time_inside = 0;  // of messages inside a node, where it is another one; 0: the same
  Seconds begin{0};             // before the first message, if the collective's software takes less
  /// Added to the network's latency of a message between GPUs of a node, and between nodes.
  /// Negative where the cluster's figure is a step's already.
  Seconds inside{0};
  Seconds between{0};
  /// Bytes that a node passes on at a time in a tree, in all channels together, before link_time.
  Bytes piece{};
  /// All ranks begin each round together: no message's latency hides behind the bytes of others.
  bool in_lockstep = false;
  /// Factor on all of the collective's time, its software's part included: measured over modelled.
  double stretch = 1;

  double link_time_of(bool same_node) const {
    return same_node && link_time_inside > 0 ? link_time_inside : link_time;
  }

  friend bool operator==(const Protocol&, const Protocol&) = default;
  friend auto operator<=>(const Protocol&, const Protocol&) = default;
};

/// The load that a collective carries.
struct CollectiveLoad {
  /// All-reduce, reduce-scatter: every rank's whole buffer. All-gather: the largest contribution.
  Bytes payload{};
  /// All-gather: every rank's contribution, where they are unequal; else empty.
  std::vector<Bytes> contributions{};
  /// For a sparse payload: the elements of the dense tensor, and the bytes of one selected element.
  std::int64_t elements = 0;
  int bytes_per_element = 8;
  Protocol protocol{};
  int root = 0;  // broadcast: the rank of the group whose buffer all get

  Bytes contribution(int rank) const {
    return contributions.empty() ? payload : contributions[static_cast<std::size_t>(rank)];
  }

  friend bool operator==(const CollectiveLoad&, const CollectiveLoad&) = default;
};

struct Message {
  int from = 0;
  int to = 0;
  Bytes bytes{};
  int channel = 0;
};

/// Rounds that use the same edges. A rank begins a round when it has sent and received all its
/// messages of the round before. A message is sent when it has left the sender, and received when
/// it has arrived, its latency later. The messages of a round are sent at the same time.
struct Phase {
  int rounds = 1;
  /// A rank goes through the rounds of each channel by itself, and through the phase when it is
  /// through with all. Its channels share its links, and those that receive share what adds.
  int channels = 1;
  /// In this many first rounds, received data is added to the data of the receiver.
  int reducing_rounds = 0;
  /// Every rank begins a round together with all others, as in a clocked pipeline.
  bool lockstep = false;
  /// A message leaves once its receiver has come to the round too. The receiver's word that it is
  /// ready takes no time.
  bool rendezvous = false;
  /// Its messages have no latency under a protocol: the phases before were a first piece's way.
  bool follows_walk = false;
  /// True where all nodes have g GPUs and, for each message (from, to), there is also a message
  /// (from + g, to + g), modulo the ranks, in the same channel and of as many bytes (except for
  /// remainders of a division). One node then stands for all.
  bool rotational = false;
  /// Collectives in groups: messages stay in blocks of so many ranks, all blocks do the same, and
  /// "modulo the ranks" means those of a block. 0: all ranks.
  int turning_ranks = 0;
  /// The messages of one round, at most one from a rank to another in a channel. `bytes` is the
  /// largest size of the message in any round.
  std::vector<Message> messages{};
  /// The bytes of a message in a round, where rounds differ; empty: those of `messages` in every
  /// round.
  std::function<Bytes(std::size_t message, int round)> size{};
  /// The bytes of all messages of all rounds, where they are known without adding up `size`.
  std::optional<Bytes> sum{};
  Protocol protocol{};  // its link_time is in the bytes

  Bytes bytes_of(std::size_t message, int round) const {
    return size ? size(message, round) : messages[message].bytes;
  }
};

/// The data that a collective leaves on the ranks: a sum or parts of it, all contributions, the
/// root's buffer, or that of the rank before.
enum class Outcome { AllReduced, AllGathered, Scattered, Broadcast, Passed };

/// The description of a collective, without any clock or network.
struct Collective {
  std::string_view name;
  std::string_view summary{};
  std::string_view source{};  // paper or implementation
  Outcome outcome;
  /// The compressors whose encoding it can carry in training (see also `carries`). A collective
  /// with Outcome::Scattered can carry none by itself.
  Aggregation serves;
  /// True if it handles selected elements (it adds, merges or drops them on the way), not just
  /// bytes.
  bool sparse = false;
  /// True if k must be the same on all ranks and known before.
  bool needs_exact_count = false;
  /// Collectives inside each node around this one: `before` the encoding, on dense gradients, and
  /// `after` the decoding, on dense sums. Each rank of a node then encodes its share only. Null:
  /// none.
  const Collective* before = nullptr;
  const Collective* after = nullptr;
  /// The phases in order. A rank goes on to the next phase as it goes on to the next round. Empty
  /// for a single rank. Throws ValueError for a layout on which the collective cannot run.
  std::vector<Phase> (*phases)(const RankLayout& layout, const CollectiveLoad& load);
};

/// In collectives.def order.
std::span<const Collective* const> all_collectives();

/// nullptr where there is none of that name.
const Collective* find_collective(std::string_view name);

/// The first collective of the table that serves `aggregation`. It is used where none is named.
const Collective& default_collective(Aggregation aggregation);

/// True if it can carry the compressor's encoding in training: it serves its aggregation, or it
/// adds up what workers agreed on: values of elements that a shared seed chooses, or levels of a
/// shared scale. A collective that handles selected elements carries sparsifiers alone.
bool carries(const Collective& collective, const Compressor& compressor);

/// The size of chunk i of n. Chunk sizes differ by at most one byte and add up to the whole.
Bytes chunk(Bytes whole, int i, int n);

/// The size of chunks first, first + 1, ..., last - 1 of n together.
Bytes chunks(Bytes whole, int first, int last, int n);

/// The number of messages of all rounds and phases.
std::int64_t messages_in(const std::vector<Phase>& phases);

/// The bytes of all messages.
Bytes bytes_in(const std::vector<Phase>& phases);

}  // namespace gradcast
