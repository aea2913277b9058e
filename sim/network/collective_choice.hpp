// The time of collectives on a cluster, and the choice among them.
#pragma once
#include <cstdint>
#include <map>
#include <tuple>

#include "sim/inputs/cluster.hpp"
#include "sim/inputs/topology.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/network/rank_groups.hpp"

namespace gradcast {

/// Made for one cluster and used for many loads. The topology is made when it is first needed,
/// because a SimGrid platform has none here.
class CollectiveChoice {
 public:
  /// The cluster must outlive it.
  explicit CollectiveChoice(const Cluster& cluster);

  const RankLayout& layout() const { return layout_; }

  /// The time in all groups at once, on a network that carries nothing else. Throws ValueError for
  /// a SimGrid platform.
  Seconds time(const Collective& collective, const CollectiveLoad& load,
               const RankGroups& groups = {}) const;

  /// Chooses as NCCL does: the one of its algorithms that is fastest for the load. For an
  /// all-reduce these are ring and double binary tree, for an all-gather it is the ring; where a
  /// node has several NICs, also what goes over all of them: rail rings, and NCCL's tree over
  /// nodes.
  const Collective& choose(Aggregation aggregation, const CollectiveLoad& load,
                           const RankGroups& groups = {}) const;

  /// The same of reduce-scatters and all-gathers that training shards with.
  const Collective& scatter(const CollectiveLoad& load, const RankGroups& groups) const;
  const Collective& gather(const CollectiveLoad& load, const RankGroups& groups) const;

 private:
  const Collective& fastest(Outcome outcome, const CollectiveLoad& load,
                            const RankGroups& groups) const;

  const Cluster& cluster_;
  RankLayout layout_;
  bool several_nics_;  // on some node
  mutable Topology topology_;
  /// Which collective, of a group's stride and length, with how many bytes.
  using Case = std::tuple<Outcome, int, int, std::int64_t>;
  mutable std::map<Case, const Collective*> chosen_;
};

}  // namespace gradcast
