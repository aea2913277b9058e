#include "sim/cluster.hpp"

#include <catch2/catch.hpp>

#include "sim/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

Cluster cluster(const std::string& rows) {
  return load_cluster(TextFile{"platforms/x.csv", "property,value,source\n" + rows});
}

const std::string kGood =
    "nodes,2,test\ngpus_per_node,4,test\nnic_bandwidth,10Gbps,test\nnic_latency,25us,test\n"
    "intra_bandwidth,10GBps,test\n";

}  // namespace

TEST_CASE("a cluster is read from its properties", "[cluster]") {
  const Cluster read = cluster(kGood);
  CHECK(read.name == "x");
  CHECK(read.ranks() == 8);
  CHECK(read.nic.bandwidth.value == 1.25e9);
  CHECK(read.intra.latency == Seconds{0});  // not said
}

TEST_CASE("ranks are laid out node by node", "[cluster]") {
  const Cluster read = cluster(kGood);
  CHECK(read.node_of(3) == 0);
  CHECK(read.node_of(4) == 1);
  CHECK(read.between(2, 3).bandwidth.value == 10e9);
  CHECK(read.between(3, 4).bandwidth.value == 1.25e9);
  CHECK(read.between(3, 4).latency.count() == Approx(25e-6));
}

TEST_CASE("what is wrong in a cluster file is named with its line", "[cluster]") {
  CHECK_THROWS_WITH(
      cluster("node,2,test\n"),
      Contains("x.csv:2: column 'property': unknown property 'node'; did you mean 'nodes'?"));
  CHECK_THROWS_WITH(cluster(kGood + "nodes,3,test\n"), Contains("x.csv:7") && Contains("twice"));
  CHECK_THROWS_WITH(cluster("nic_bandwidth,10,test\n"),
                    Contains("x.csv:2: nic_bandwidth: '10' has no unit"));
  CHECK_THROWS_WITH(cluster("nodes,0,test\n"), Contains("nodes: '0' is not a count"));
  CHECK_THROWS_WITH(cluster("nodes,2,\n"), Contains("column 'source'"));
  CHECK_THROWS_WITH(cluster("nodes,2,test\n"), Contains("'gpus_per_node' is missing"));
}

TEST_CASE("every property can be set by its name and is printed back", "[cluster]") {
  Cluster changed = cluster(kGood);
  for (const ClusterProperty& property : properties_of(cluster(kGood)))
    CHECK_NOTHROW(set_property(changed, property.name, property.value));
  set_property(changed, "nic_bandwidth", "25Gbps");
  CHECK(changed.nic.bandwidth.value == 25e9 / 8);
  CHECK_THROWS_AS(set_property(changed, "nic_bandwidth", "25"), ValueError);
}
