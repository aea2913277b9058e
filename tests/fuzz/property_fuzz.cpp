// room: inputs
// words: sim/inputs/cluster_properties.cpp sim/inputs/property_name.cpp
// longest: 400
// Lines "property=value", as flags and what-ifs set them on a cluster.

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/cluster_faults.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  Cluster cluster;
  cluster.nic.bandwidth = cluster.intra.bandwidth = BytesPerSecond{1e9};
  for (const std::string& line : split_words(bytes, '\n')) {
    const std::size_t equals = std::min(line.find('='), line.size());
    set_property(cluster, line.substr(0, equals), line.substr(std::min(equals + 1, line.size())));
  }
  require_possible(cluster);
  for (const ClusterProperty& property : properties_of(cluster)) {
    Cluster again = cluster;
    set_property(again, property.name, property.value);
    for (const ClusterProperty& read_back : properties_of(again))
      require(read_back.name != property.name || read_back.value == property.value,
              "a property is read as written");
    if (property.name.find('@') == std::string::npos)
      one_deviation_about(cluster, {property.name, 0.5});
  }
  for (int rank = 0; rank < std::min(cluster.ranks(), 100); ++rank)
    require(cluster.node_of(rank) < cluster.nodes, "a rank has a node");
}

const Harness harness("property", read);

}  // namespace
}  // namespace gradcast::fuzz
