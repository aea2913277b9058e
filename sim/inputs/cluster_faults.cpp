#include "sim/inputs/cluster_faults.hpp"

#include <cmath>
#include <cstdint>
#include <string_view>

#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/cluster_properties.hpp"

namespace gradcast {
namespace {

/// The sum over all nodes of a count that nodes may differ in; `usual`: of those that no override
/// names.
std::int64_t sum_of(const Cluster& cluster, std::string_view property, int usual) {
  std::int64_t sum = std::int64_t{cluster.nodes} * usual;
  for (const NodeOverride& override : cluster.overrides())
    if (override.property == property)
      sum += (std::int64_t{override.last} - override.first + 1) *
             (parse_count(override.value) - usual);
  return sum;
}

/// "4 nodes of 8 GPUs are 32 ranks; the most is 16"
ClusterFault too_many(const Cluster& cluster, const std::string& property, int each,
                      const std::string& of, const std::string& are, const std::string& most) {
  const std::string counted = cluster.nodes_alike() ? std::to_string(each) : "so many";
  return {property, std::to_string(cluster.nodes) + " nodes of " + counted + " " + of + " " + are +
                        "; the most is " + most};
}

std::optional<ClusterFault> too_many_ranks(const Cluster& cluster) {
  const std::int64_t ranks = sum_of(cluster, "gpus_per_node", cluster.gpus_per_node);
  const bool alike = cluster.nodes_alike();
  if (ranks <= (alike ? kMostAlikeRanks : kMostRanks)) return {};
  return too_many(cluster, "nodes", cluster.gpus_per_node, "GPUs",
                  "are " + std::to_string(ranks) + " ranks",
                  alike ? std::to_string(kMostAlikeRanks)
                        : std::to_string(kMostRanks) + " where nodes differ, and " +
                              std::to_string(kMostAlikeRanks) + " where all are alike");
}

std::optional<ClusterFault> too_many_nics(const Cluster& cluster) {
  const std::int64_t nics = sum_of(cluster, "nics_per_node", cluster.nics_per_node);
  if (nics <= kMostNics) return {};
  return too_many(cluster, "nics_per_node", cluster.nics_per_node, "NICs",
                  "have " + std::to_string(nics) + " NICs", std::to_string(kMostNics));
}

std::optional<ClusterFault> too_many_routes(const Cluster& cluster) {
  std::int64_t routes = 0;
  for (int number = 0; number < cluster.nodes; ++number) {
    const NodeProperties node = cluster.node(number);
    if (node.nics_per_node == 1) continue;
    const std::int64_t its = std::int64_t{node.gpus_per_node} * node.gpus_per_node;
    routes += its;
    if (its > kMostRoutesOfNode)
      return ClusterFault{"nics_per_node",
                          "node " + std::to_string(number) + " has " +
                              std::to_string(node.gpus_per_node) +
                              " GPUs; with several NICs the most is " +
                              std::to_string(std::lround(std::sqrt(kMostRoutesOfNode)))};
    if (routes > kMostRoutes)
      return ClusterFault{"nics_per_node", "the nodes up to node " + std::to_string(number) +
                                               " have " + std::to_string(routes) +
                                               " pairs of GPUs; with several NICs the most is " +
                                               std::to_string(kMostRoutes)};
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
  if (auto fault = too_many_nics(cluster)) return fault;
  if (auto fault = too_many_routes(cluster)) return fault;
  if (cluster.nic_share < kSlowestSpeed || cluster.nic_share > 1)
    return ClusterFault{"nic_share",
                        percent_to_text(cluster.nic_share) + " of a NIC is not from 0.1% to 100%"};
  if (cluster.late_start > 1)
    return ClusterFault{"late_start", "a late start of " + percent_to_text(cluster.late_start) +
                                          " of backward is more than all of it; the most is 100%"};
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
