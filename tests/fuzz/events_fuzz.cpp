// room: inputs
// seeds: traces/events-*.csv
// words: sim/inputs/world.cpp sim/inputs/topology.cpp

#include "sim/inputs/cluster.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/world.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

/// Four nodes of four GPUs, with links of every kind.
Cluster all_links() {
  Cluster cluster;
  const std::pair<const char*, const char*> values[] = {
      {"nodes", "4"},
      {"gpus_per_node", "4"},
      {"nic_bandwidth", "10Gbps"},
      {"intra_bandwidth", "10GBps"},
      {"pcie_bandwidth", "12GBps"},
      {"nodes_per_leaf", "1"},
      {"leaf_uplink_bandwidth", "40Gbps"},
      {"leaves_per_pod", "2"},
      {"pod_uplink_bandwidth", "40Gbps"},
  };
  for (const auto& [property, value] : values) set_property(cluster, property, value);
  return cluster;
}

void read(const std::string& bytes) {
  static const Cluster cluster = all_links();
  const TextFile file = text_file(bytes, "events-x.csv");
  const World world = load_events(file);
  for (const RankEvent& event : world.ranks)
    require(event.speed >= 0 && event.rank >= 0, "a rank has a number and a speed");
  load_events(file, cluster);
}

const Harness harness("events", read);

}  // namespace
}  // namespace gradcast::fuzz
