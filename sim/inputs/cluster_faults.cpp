#include "sim/inputs/cluster_faults.hpp"

#include <cstdint>
#include <string_view>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

std::optional<ClusterFault> too_many_ranks(const Cluster& cluster) {
  std::int64_t ranks = std::int64_t{cluster.nodes} * cluster.gpus_per_node;
  for (const NodeOverride& override : cluster.overrides())
    if (override.property == "gpus_per_node")
      ranks += (std::int64_t{override.last} - override.first + 1) *
               (parse_count(override.value) - cluster.gpus_per_node);
  if (ranks <= kMostRanks) return {};
  return ClusterFault{
      "nodes", std::to_string(cluster.nodes) + " nodes of " +
                   (cluster.nodes_alike() ? std::to_string(cluster.gpus_per_node) : "so many") +
                   " GPUs are " + std::to_string(ranks) + " ranks; the most is " +
                   std::to_string(kMostRanks)};
}

/// Routes between the GPUs of such a node are kept pair by pair.
std::optional<ClusterFault> too_many_gpus(const Cluster& cluster) {
  constexpr int kMost = 1024;
  for (int number = 0; number < cluster.nodes; ++number) {
    const NodeProperties node = cluster.node(number);
    if (node.nics_per_node > 1 && node.gpus_per_node > kMost)
      return ClusterFault{"nics_per_node", "node " + std::to_string(number) + " has " +
                                               std::to_string(node.gpus_per_node) +
                                               " GPUs; with several NICs the most is " +
                                               std::to_string(kMost)};
    if (cluster.nodes_alike()) break;
  }
  return {};
}

}  // namespace

std::optional<ClusterFault> fault_of(const Cluster& cluster) {
  for (const NodeOverride& override : cluster.overrides())
    if (override.last >= cluster.nodes)
      return ClusterFault{override.name(), in_quotes(override.name()) +
                                               " is of a node that is not there: the last of " +
                                               std::to_string(cluster.nodes) + " is " +
                                               std::to_string(cluster.nodes - 1)};
  if (auto fault = too_many_ranks(cluster)) return fault;
  if (auto fault = too_many_gpus(cluster)) return fault;
  struct Need {
    std::string_view property;
    bool there;
    std::string_view needs;
    bool met;
  };
  const bool leaves = cluster.nodes_per_leaf > 0;
  const bool leaf_rate = cluster.leaf_uplink_bandwidth.value > 0;
  const bool pods = cluster.leaves_per_pod > 0;
  const bool pod_rate = cluster.pod_uplink_bandwidth.value > 0;
  const Need needs[] = {
      {"nodes_per_leaf", leaves, "leaf_uplink_bandwidth", leaf_rate},
      {"leaf_uplink_bandwidth", leaf_rate, "nodes_per_leaf", leaves},
      {"leaf_uplink_latency", cluster.leaf_uplink_latency > Seconds{0}, "nodes_per_leaf", leaves},
      {"leaves_per_pod", pods, "nodes_per_leaf", leaves},
      {"leaves_per_pod", pods, "pod_uplink_bandwidth", pod_rate},
      {"pod_uplink_bandwidth", pod_rate, "leaves_per_pod", pods},
      {"pod_uplink_latency", cluster.pod_uplink_latency > Seconds{0}, "leaves_per_pod", pods},
      {"planner_startup", cluster.planner_startup > Seconds{0}, "planner_bandwidth",
       cluster.planner_bandwidth.value > 0},
  };
  for (const Need& need : needs)
    if (need.there && !need.met)
      return ClusterFault{std::string(need.property),
                          in_quotes(need.property) + " says nothing without " +
                              in_quotes(need.needs) + ", which is missing"};
  return {};
}

void require_possible(const Cluster& cluster) {
  if (const auto fault = fault_of(cluster)) throw ValueError(fault->what);
}

}  // namespace gradcast
