#include "sim/inputs/topology.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <set>

#include "sim/base/text.hpp"
#include "sim/inputs/cluster_values.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

/// The latency and bandwidth of one message alone.
struct Path {
  Seconds latency;
  BytesPerSecond bandwidth;  // the slowest link's
};

Path path(const Topology& topology, int from, int to) {
  std::vector<std::uint32_t> links;
  Path found{topology.route(from, to, links), {}};
  found.bandwidth = topology.links.at(links.at(0)).bandwidth;
  for (const std::uint32_t link : links)
    found.bandwidth = std::min(found.bandwidth, topology.links[link].bandwidth);
  return found;
}

Cluster cluster(int nodes, int gpus_per_node) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = gpus_per_node;
  cluster.nic = {BytesPerSecond{1e9}, 20us};
  cluster.intra = {BytesPerSecond{10e9}, 4us};
  return cluster;
}

/// The names of the links on a way, in order.
std::string way(const Topology& topology, int from, int to) {
  std::vector<std::uint32_t> links;
  topology.route(from, to, links);
  std::vector<std::string> names;
  for (const std::uint32_t link : links) names.push_back(topology.links.at(link).name);
  return join(names, " ");
}

double microseconds(const Topology& topology, int from, int to) {
  return path(topology, from, to).latency.count() * 1e6;
}

}  // namespace

TEST_CASE("a message passes two GPU links in a node, and two NICs between nodes", "[topology]") {
  const Topology topology = make_topology(cluster(2, 2));
  CHECK(topology.ranks == 4);
  CHECK(topology.node_of == std::vector<int>{0, 0, 1, 1});
  CHECK(topology.nodes_alike);
  CHECK(way(topology, 0, 1) == "node0.gpu0.up node0.gpu1.down");
  CHECK(way(topology, 1, 2) == "node0.gpu1.up node0.nic0.up node1.nic0.down node1.gpu0.down");
  CHECK(microseconds(topology, 0, 1) == Approx(4));
  CHECK(microseconds(topology, 1, 2) == Approx(20));
  CHECK(path(topology, 0, 1).bandwidth.value == 10e9);
  CHECK(path(topology, 1, 2).bandwidth.value == 1e9);
}

TEST_CASE("shared PCIe lies on every way out of a GPU and into one", "[topology]") {
  Cluster shared = cluster(2, 2);
  shared.pcie_bandwidth = BytesPerSecond{5e9};
  const Topology topology = make_topology(shared);
  CHECK(way(topology, 0, 1) == "node0.gpu0.up node0.pcie.up node0.pcie.down node0.gpu1.down");
  CHECK(way(topology, 0, 2) ==
        "node0.gpu0.up node0.pcie.up node0.nic0.up node1.nic0.down node1.pcie.down "
        "node1.gpu0.down");
}

TEST_CASE("GPU i uses NIC i mod their number", "[topology]") {
  Cluster rails = cluster(2, 4);
  rails.nics_per_node = 2;
  const Topology topology = make_topology(rails);
  CHECK(way(topology, 3, 6) == "node0.gpu3.up node0.nic1.up node1.nic0.down node1.gpu2.down");
}

// Each GPU has a half of 8 NICs of 1 GB/s.
TEST_CASE("a GPU with several NICs sends by all of them, as by a faster one", "[topology]") {
  Cluster rails = cluster(2, 2);
  rails.nics_per_node = 8;
  const Topology topology = make_topology(rails);
  CHECK(way(topology, 1, 2) == "node0.gpu1.up node0.nic1.up node1.nic0.down node1.gpu0.down");
  CHECK(path(topology, 1, 2).bandwidth.value == Approx(4e9));
}

TEST_CASE("a GPU that does not run leaves its NICs unused", "[topology]") {
  NodeProperties node;
  node.gpus_per_node = 8;
  node.nics_per_node = 16;
  CHECK(node.nics_near(8) == 16);
  CHECK(node.nics_near(1) == 2);
  CHECK(node.nics_near(16) == 16);
  node.nics_per_node = 4;
  CHECK(node.nics_near(2) == 2);  // GPU i uses NIC i mod 4
  CHECK(node.nics_near(6) == 4);
}

// 4 nodes, 2 a leaf: the spine adds 3 us.
TEST_CASE("leaves are crossed by their uplinks", "[topology]") {
  Cluster tree = cluster(4, 1);
  tree.nodes_per_leaf = 2;
  tree.leaf_uplink_bandwidth = BytesPerSecond{0.5e9};
  tree.leaf_uplink_latency = 3us;
  const Topology topology = make_topology(tree);
  CHECK_FALSE(topology.nodes_alike);
  CHECK(way(topology, 0, 1) == "node0.gpu0.up node0.nic0.up node1.nic0.down node1.gpu0.down");
  CHECK(way(topology, 1, 2) ==
        "node1.gpu0.up node1.nic0.up leaf0.up leaf1.down node2.nic0.down node2.gpu0.down");
  CHECK(microseconds(topology, 0, 1) == Approx(20));
  CHECK(microseconds(topology, 1, 2) == Approx(23));
  CHECK(path(topology, 1, 2).bandwidth.value == 0.5e9);
}

// 4 leaves of one node, 2 a pod: the core adds 7 us to the spine's 3.
TEST_CASE("pods are crossed by theirs, through the leaves", "[topology]") {
  Cluster tree = cluster(4, 1);
  tree.nodes_per_leaf = 1;
  tree.leaf_uplink_bandwidth = BytesPerSecond{2e9};
  tree.leaf_uplink_latency = 3us;
  tree.leaves_per_pod = 2;
  tree.pod_uplink_bandwidth = BytesPerSecond{3e9};
  tree.pod_uplink_latency = 7us;
  const Topology topology = make_topology(tree);
  CHECK(way(topology, 0, 1) ==
        "node0.gpu0.up node0.nic0.up leaf0.up leaf1.down node1.nic0.down node1.gpu0.down");
  CHECK(way(topology, 3, 0) ==
        "node3.gpu0.up node3.nic0.up leaf3.up pod1.up pod0.down leaf0.down node0.nic0.down "
        "node0.gpu0.down");
  CHECK(microseconds(topology, 0, 1) == Approx(23));
  CHECK(microseconds(topology, 3, 0) == Approx(30));
}

// Half of 20 us and half of 50 us, and 2 us of software.
TEST_CASE("where nodes differ each end counts half of its latency", "[topology]") {
  Cluster mixed = cluster(3, 2);
  mixed.per_message_latency = 2us;
  set_property(mixed, "nic_latency@2", "50us");
  set_property(mixed, "nic_bandwidth@2", "1Gbps");
  set_property(mixed, "gpus_per_node@1", "1");
  const Topology topology = make_topology(mixed);
  CHECK_FALSE(topology.nodes_alike);
  CHECK(topology.node_of == std::vector<int>{0, 0, 1, 2, 2});
  CHECK(way(topology, 2, 4) == "node1.gpu0.up node1.nic0.up node2.nic0.down node2.gpu1.down");
  CHECK(microseconds(topology, 2, 4) == Approx(37));
  CHECK(microseconds(topology, 0, 2) == Approx(22));
  CHECK(microseconds(topology, 3, 4) == Approx(6));
  CHECK(path(topology, 2, 4).bandwidth.value == 0.125e9);
}

TEST_CASE("every link has a name of its own", "[topology]") {
  Cluster tree = cluster(4, 3);
  tree.nics_per_node = 2;
  tree.pcie_bandwidth = BytesPerSecond{1e9};
  tree.nodes_per_leaf = 2;
  tree.leaf_uplink_bandwidth = BytesPerSecond{1e9};
  tree.leaves_per_pod = 1;
  tree.pod_uplink_bandwidth = BytesPerSecond{1e9};
  const Topology topology = make_topology(tree);
  std::set<std::string> names;
  for (const TopologyLink& link : topology.links) names.insert(link.name);
  CHECK(names.size() == topology.links.size());
  // Both directions of: 3 GPUs, 2 NICs and PCIe of 4 nodes, 2 leaves, 2 pods.
  CHECK(names.size() == 2 * (4 * 6 + 2 + 2));
}
