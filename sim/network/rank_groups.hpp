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
  /// The ranks of a block.
  int block() const { return stride * length; }

  // Only for several groups:
  int group_of(int rank) const { return rank / block() * stride + rank % stride; }
  int rank_of(int group, int member) const {
    return group / stride * block() + group % stride + member * stride;
  }

  friend bool operator==(const RankGroups&, const RankGroups&) = default;
};

/// The same groups, where "all" is spelled out as one group of `ranks`. Throws ValueError where
/// they do not divide the ranks.
RankGroups groups_among(int ranks, const RankGroups& groups);

/// Layout of the first group's ranks: a node is one that holds any of them. Throws ValueError if
/// the groups do not divide the ranks.
RankLayout layout_in(const RankGroups& groups, const RankLayout& layout);

/// Phases of the collective in all groups at the same time, on the ranks of the whole job. A load
/// with unequal contributions has one for every rank of the job. Throws ValueError as the
/// collective does, if the groups do not divide the ranks, and if they stand so differently on
/// their nodes that their phases do not go side by side.
std::vector<Phase> phases_in(const RankGroups& groups, const Collective& collective,
                             const RankLayout& layout, const CollectiveLoad& load);

}  // namespace gradcast
