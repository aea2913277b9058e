// What collectives cost on a cluster, and which of them to take.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "sim/inputs/cluster.hpp"
#include "sim/inputs/topology.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/collective_time.hpp"

namespace gradcast {

/// Built for one cluster and asked for many loads. The topology is made when it is first needed: a
/// platform of SimGrid's has none here.
class CollectiveChoice {
 public:
  /// The cluster must outlive it.
  explicit CollectiveChoice(const Cluster& cluster);

  const RankLayout& layout() const { return layout_; }

  /// Where nothing else is on the network. Throws ValueError for a platform of SimGrid's.
  Seconds time(const Collective& collective, const CollectiveLoad& load) const;

  /// As NCCL: of the algorithms that it has, the one that is faster for the load. For an all-reduce
  /// ring and double binary tree, for an all-gather the ring.
  const Collective& choose(Aggregation aggregation, const CollectiveLoad& load) const;

 private:
  const Cluster& cluster_;
  RankLayout layout_;
  mutable Topology topology_;
  mutable std::map<std::pair<Aggregation, std::int64_t>, const Collective*> chosen_;  // by bytes
};

}  // namespace gradcast
