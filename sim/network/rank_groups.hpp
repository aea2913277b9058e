// Groups of ranks, each of which runs a collective among itself, all at the same time.
#pragma once
#include <vector>

#include "sim/network/collective.hpp"

namespace gradcast {

/// All ranks in groups of `length`. The ranks of a group are `stride` apart, so that 1 gives groups
/// of neighbours: with as many ranks as a node has GPUs, the nodes. Blocks of stride * length ranks
/// follow one another.
struct RankGroups {
  int stride = 1;
  int length = 0;  // 0: all ranks are one group

  bool all() const { return length == 0; }
  friend bool operator==(const RankGroups&, const RankGroups&) = default;
};

/// Where the ranks of the first group stand: a node is one that holds any of them. Throws
/// ValueError where the groups do not divide the ranks.
RankLayout layout_in(const RankGroups& groups, const RankLayout& layout);

/// What the collective does in all groups at the same time, on the ranks of the whole job. A load
/// with unequal contributions has one for every rank of the job. Throws ValueError as the
/// collective does, and where the groups do not divide the ranks.
std::vector<Phase> phases_in(const RankGroups& groups, const Collective& collective,
                             const RankLayout& layout, const CollectiveLoad& load);

}  // namespace gradcast
