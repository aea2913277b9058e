// A cluster at one switch, as its links and routes, and what a collective takes there.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/network/collective_time.hpp"

namespace gradcast::one_switch {

struct Wire {
  double bandwidth;  // bytes per second
  double latency;    // seconds
};

inline constexpr Wire kInside{12e9, 5e-6};
inline constexpr Wire kBetween{1.2e9, 26e-6};
inline constexpr CollectiveSoftware kNone{};

/// Nodes at one switch, a NIC each; every GPU has a link in its node, which NIC traffic does not
/// use. One node of one GPU each: a star.
inline Topology cluster(int nodes, int gpus, Wire inside = kInside, Wire between = kBetween) {
  Topology topology{.ranks = nodes * gpus, .nodes_alike = true, .gpus_per_node = gpus};
  for (int rank = 0; rank < nodes * gpus; ++rank) {
    topology.node_of.push_back(rank / gpus);
    for (const char* way : {"out", "in"})
      topology.links.push_back({"gpu" + std::to_string(rank) + way, {inside.bandwidth}});
  }
  for (int node = 0; node < nodes; ++node)
    for (const char* way : {"out", "in"})
      topology.links.push_back({"nic" + std::to_string(node) + way, {between.bandwidth}});
  topology.route = [=](int from, int to, std::vector<std::uint32_t>& links) {
    const bool same = from / gpus == to / gpus;
    const int first = same ? 0 : 2 * nodes * gpus;
    links.push_back(static_cast<std::uint32_t>(first + 2 * (same ? from : from / gpus)));
    links.push_back(static_cast<std::uint32_t>(first + 2 * (same ? to : to / gpus) + 1));
    return Seconds{same ? inside.latency : between.latency};
  };
  return topology;
}

inline double time_of(std::string_view name, int nodes, int gpus, const CollectiveLoad& load,
                      const Topology& topology) {
  return collective_time(find_collective(name)->phases(even_layout(nodes, gpus), load), topology,
                         kNone)
      .count();
}

}  // namespace gradcast::one_switch
