#include "sim/network/collective_choice.hpp"

#include <string_view>
#include <vector>

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

bool has_several_nics(const Cluster& cluster) {
  for (int node = 0; node < cluster.nodes; ++node)
    if (cluster.node(node).nics_per_node > 1) return true;
  return false;
}

/// What NCCL has, the default first. With one NIC a node there are no rails, and a single ring and
/// a tree over all ranks stand for it.
std::vector<const Collective*> algorithms_of(Aggregation aggregation, bool rails) {
  std::vector<const Collective*> all{&default_collective(aggregation)};
  const auto add = [&](std::string_view name) { all.push_back(find_collective(name)); };
  if (aggregation == Aggregation::AllGather) {
    if (rails) add("rail-ring-all-gather");
    return all;
  }
  add("double-binary-tree");
  if (rails) add("rail-ring-all-reduce");
  if (rails) add("nccl-tree");
  return all;
}

}  // namespace

CollectiveChoice::CollectiveChoice(const Cluster& cluster)
    : cluster_(cluster), layout_(layout_of(cluster)), several_nics_(has_several_nics(cluster)) {}

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
  const std::vector<const Collective*> algorithms = algorithms_of(aggregation, several_nics_);
  if (algorithms.size() == 1 || layout_.ranks() == 1 || groups.length == 1)
    return *algorithms.front();
  const Collective*& chosen =
      chosen_[{aggregation, groups.stride, groups.length, load.payload.count}];
  if (chosen != nullptr) return *chosen;
  Seconds least = Seconds::max();
  for (const Collective* algorithm : algorithms)
    if (const Seconds its = time(*algorithm, load, groups); its < least) {
      least = its;
      chosen = algorithm;
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
