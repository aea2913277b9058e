// room: inputs
// seeds: platforms/*.csv
// words: sim/inputs/cluster_properties.cpp sim/inputs/cluster_file.cpp sim/inputs/property_name.cpp

#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/cluster_properties.hpp"
#include "sim/inputs/topology.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void require_properties_read_back(const Cluster& cluster) {
  for (const PropertyRow& property : property_rows()) {
    Cluster again = cluster;
    const std::string text = property.get(cluster);
    if (text.empty()) continue;
    property.set(again, text);
    require(property.get(again) == text, "a property is read as written");
  }
}

void read(const std::string& bytes) {
  const Cluster cluster = load_cluster(text_file(bytes, "cluster.csv"));
  require_properties_read_back(cluster);
  if (!cluster.platform_file.empty()) return;
  const Topology topology = make_topology(cluster);
  require(topology.ranks == cluster.ranks(), "a topology has the cluster's ranks");
  std::vector<std::uint32_t> links;
  if (topology.ranks > 1) topology.route(0, topology.ranks - 1, links);
  for (const std::uint32_t link : links) require(link < topology.links.size(), "a route exists");
}

const Harness harness("cluster", read);

}  // namespace
}  // namespace gradcast::fuzz
