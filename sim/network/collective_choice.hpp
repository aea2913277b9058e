// The time of collectives on a cluster, and the choice among them.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "sim/inputs/cluster.hpp"
#include "sim/inputs/topology.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/network/library_rule.hpp"
#include "sim/network/nccl_rule.hpp"
#include "sim/network/rank_groups.hpp"

namespace gradcast {

class MeasuredTimes;

/// Made for one cluster and used for many loads. The topology is made when it is first needed,
/// because a SimGrid platform has none here.
class CollectiveChoice {
 public:
  /// The cluster must outlive it. With a version of NCCL, NCCL's own rule chooses; else the
  /// library's, where there is one.
  explicit CollectiveChoice(const Cluster& cluster, std::optional<NcclVersion> nccl = {},
                            const LibraryRule* library = nullptr);
  ~CollectiveChoice();
  CollectiveChoice(const CollectiveChoice&) = delete;
  CollectiveChoice& operator=(const CollectiveChoice&) = delete;

  const RankLayout& layout() const { return layout_; }

  /// The time in all groups at once, on a network that carries nothing else. Throws ValueError for
  /// a SimGrid platform.
  Seconds time(const Collective& collective, const CollectiveLoad& load,
               const RankGroups& groups = {}) const;

  /// Without a rule: the one of NCCL's algorithms that is fastest for the load. For an
  /// all-reduce these are ring and double binary tree, for an all-gather it is the ring; where a
  /// node has several NICs, also what goes over all of them: rail rings, and NCCL's tree over
  /// nodes. A cluster with measured times stretches what was chosen to its measured time.
  CollectiveUse choose(Aggregation aggregation, const CollectiveLoad& load,
                       const RankGroups& groups = {}) const;

  /// The same of whatever leaves this on the ranks.
  CollectiveUse to(Outcome outcome, const CollectiveLoad& load) const;
  /// The same of reduce-scatters and all-gathers that training shards with.
  CollectiveUse scatter(const CollectiveLoad& load, const RankGroups& groups) const;
  CollectiveUse gather(const CollectiveLoad& load, const RankGroups& groups) const;
  /// The same of the broadcasts that give updated parameters back, many in a row.
  CollectiveUse broadcast(const CollectiveLoad& load, const RankGroups& groups) const;

  /// `MeasuredTimes::words` for collectives of all ranks; "" for a cluster without such times.
  std::string measured_words(Outcome outcome, Bytes payload) const;
  /// `MeasuredTimes::deviation` likewise.
  std::optional<double> measured_deviation(Outcome outcome, Bytes payload) const;

 private:
  CollectiveUse fastest(Outcome outcome, const CollectiveLoad& load,
                        const RankGroups& groups) const;
  CollectiveUse picked(Outcome outcome, const CollectiveLoad& load, const RankGroups& groups) const;

  const Cluster& cluster_;
  std::optional<NcclVersion> nccl_;
  const LibraryRule* library_;
  RankLayout layout_;
  bool several_nics_;  // on some node
  mutable Topology topology_;
  /// The outcome, stride and length of the groups, and bytes of a load.
  using Case = std::tuple<Outcome, int, int, std::int64_t>;
  mutable std::map<Case, CollectiveUse> chosen_;
  std::unique_ptr<const MeasuredTimes> measured_;  // nullptr: none
  mutable std::map<Case, double> stretches_;
};

}  // namespace gradcast
