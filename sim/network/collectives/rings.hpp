// Rings, in which every rank passes blocks on to the next. Half of the collectives are made of
// them.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "sim/network/collective.hpp"

namespace gradcast::collectives {

/// Rings of one length; every rank is in one of them, or in one of each channel.
struct Rings {
  int stride = 1;  // from a rank to the next
  int length = 1;
  int channels = 1;
  /// With several channels: the nodes of rails (see below).
  RankLayout nodes{};

  int position(int rank, int channel = 0) const;
  /// The rank at a position of the channel's ring that `rank` is in.
  int member(int rank, int position, int channel = 0) const;
  /// The first rank of each of a channel's rings, and all ranks of the ring of such a one.
  std::vector<int> firsts(int ranks, int channel) const;
  std::vector<int> order(int first, int channel) const;
};

Rings ring_of_all(const RankLayout& layout);
/// As many rings through all ranks as a node has GPUs, each a channel for its share of every block.
/// Ring j comes into each node at GPU j, goes through all of its GPUs and leaves from GPU j - 1. So
/// all GPUs of a node, and all of its NICs, send and receive as much. One ring where no node has
/// several GPUs, or where there is one node.
Rings rails(const RankLayout& layout);
/// One ring in each node; and one ring through the ranks of equal local index. Both throw
/// ValueError with the collective's name where nodes have different numbers of GPUs.
Rings rings_inside_nodes(const RankLayout& layout, std::string_view collective);
Rings rings_across_nodes(const RankLayout& layout, std::string_view collective);

struct Turns {
  int rounds = 0;
  int reducing_rounds = 0;
  /// In round r the rank at position i passes block i + ahead - r, modulo the length of its ring.
  int ahead = 0;
  /// False where blocks differ by more than remainders of a division.
  bool blocks_alike = true;
  /// Size of a block of the channel's ring that `rank` is in; empty if blocks are the chunks of
  /// `whole`. Each of several channels passes an equal share of it.
  std::function<Bytes(int rank, int block, int channel)> block{};
  std::function<Bytes(int rank)> whole{};
};

/// Appends the rounds. There are length - 1 of them, or at least length; none for rings of one
/// rank.
void append_turns(std::vector<Phase>& phases, const RankLayout& layout, const Rings& rings,
                  const Turns& turns);

/// The phases of a collective that is nothing but these rounds.
std::vector<Phase> turned(const RankLayout& layout, const Rings& rings, const Turns& turns);

/// Reduce-scatter: blocks are chunks of `whole(rank)`. The rank at position i ends with chunk i
/// + 1.
Turns scattering_turns(const Rings& rings, std::function<Bytes(int rank)> whole);
/// All-gather of the chunks that scattering_turns left.
Turns gathering_turns(const Rings& rings, std::function<Bytes(int rank)> whole);
/// Both, without a pause between them.
Turns reducing_turns(const Rings& rings, std::function<Bytes(int rank)> whole);
/// All-gather of every rank's own contribution.
Turns contribution_turns(const Rings& rings, const CollectiveLoad& load);

}  // namespace gradcast::collectives
