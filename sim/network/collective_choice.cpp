#include "sim/network/collective_choice.hpp"

#include "sim/base/error.hpp"

namespace gradcast {

CollectiveChoice::CollectiveChoice(const Cluster& cluster)
    : cluster_(cluster), layout_(layout_of(cluster)) {}

Seconds CollectiveChoice::time(const Collective& collective, const CollectiveLoad& load,
                               const RankGroups& groups) const {
  if (!cluster_.platform_file.empty())
    throw ValueError("what a collective costs on '" + cluster_.platform_file.string() +
                     "' is known only when SimGrid runs it: name the collective, and for mg-wfbp "
                     "planner_startup and planner_bandwidth");
  if (topology_.ranks == 0) topology_ = make_topology(cluster_);
  return collective_time(phases_in(groups, collective, layout_, load), topology_,
                         software_of(cluster_));
}

const Collective& CollectiveChoice::choose(Aggregation aggregation, const CollectiveLoad& load,
                                           const RankGroups& groups) const {
  const Collective& ring = default_collective(aggregation);
  if (aggregation == Aggregation::AllGather || layout_.ranks() == 1 || groups.length == 1)
    return ring;
  const Collective*& chosen =
      chosen_[{aggregation, groups.stride, groups.length, load.payload.count}];
  if (chosen == nullptr) {
    const Collective& tree = *find_collective("double-binary-tree");
    chosen = time(tree, load, groups) < time(ring, load, groups) ? &tree : &ring;
  }
  return *chosen;
}

const Collective& CollectiveChoice::scatter(const CollectiveLoad&, const RankGroups&) const {
  return *find_collective("ring-reduce-scatter");
}

const Collective& CollectiveChoice::gather(const CollectiveLoad&, const RankGroups&) const {
  return *find_collective("ring-all-gather");
}

}  // namespace gradcast
