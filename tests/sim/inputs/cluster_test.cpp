#include "sim/inputs/cluster.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/inputs/cluster_faults.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/cluster_values.hpp"

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

TEST_CASE("a network of 15 us is TCP, whatever the unit", "[cluster]") {
  for (const char* latency : {"15us", "0.015ms", "15000ns", "0.000015s"}) {
    Cluster cluster;
    cluster.nic.latency = parse_time(latency);
    CHECK(network_kind_of(cluster) == NetworkKind::Tcp);
  }
  Cluster less;
  less.nic.latency = parse_time("14.9us");
  CHECK(network_kind_of(less) == NetworkKind::InfiniBand);
}

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
  CHECK(read.first_rank(1) == 4);
  CHECK(read.gpus_of(1) == 4);
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
  Cluster changed = cluster(kGood + "nic_latency@1,50us,test\n");
  for (const ClusterProperty& property : properties_of(changed))
    CHECK_NOTHROW(set_property(changed, property.name, property.value));
  set_property(changed, "nic_bandwidth", "25Gbps");
  CHECK(changed.nic.bandwidth.value == 25e9 / 8);
  CHECK_THROWS_AS(set_property(changed, "nic_bandwidth", "25"), ValueError);
}

TEST_CASE("what a cluster does not say is not there", "[cluster]") {
  const Cluster read = cluster(kGood);
  CHECK(read.nics_per_node == 1);
  CHECK(read.compute_speed == 1);
  std::size_t none = 0;
  for (const ClusterProperty& property : properties_of(read)) none += property.value == "none";
  // PCIe, leaves and pods with their uplinks, measured collectives, the GPU's name, threads of
  // sockets, eager limit, reduction, staging, the host beside its NIC, planner.
  CHECK(none == 13);
}

TEST_CASE("a share is a percentage", "[cluster]") {
  Cluster changed = cluster(kGood);
  set_property(changed, "communication_slowdown", "5%");
  CHECK(changed.communication_slowdown == Approx(0.05));
  set_property(changed, "communication_slowdown", "0");
  CHECK(changed.communication_slowdown == 0);
  CHECK_THROWS_WITH(set_property(changed, "communication_slowdown", "0.05"),
                    Contains("'0.05' has no unit; write a share like '5%'"));
  CHECK_THROWS_WITH(set_property(changed, "communication_slowdown", "1000%"),
                    Contains("is not a share from 0% to below 1000%"));
}

// 3 nodes: 4 GPUs, then 1, then 2.
TEST_CASE("nodes may differ", "[cluster]") {
  const Cluster read = cluster(
      "gpus_per_node@1,1,test\nnodes,3,test\ngpus_per_node,4,test\nnic_bandwidth,10Gbps,test\n"
      "intra_bandwidth,10GBps,test\ngpus_per_node@2,2,test\nnic_bandwidth@1..2,1Gbps,test\n"
      "compute_speed@2,0.5,test\n");
  CHECK_FALSE(read.nodes_alike());
  CHECK(read.ranks() == 7);
  CHECK(read.node_of(3) == 0);
  CHECK(read.node_of(4) == 1);
  CHECK(read.node_of(5) == 2);
  CHECK(read.node_of(6) == 2);
  CHECK(read.first_rank(2) == 5);
  CHECK(read.gpus_of(0) == 4);
  CHECK(read.gpus_of(2) == 2);
  CHECK(read.node(0).nic.bandwidth.value == 1.25e9);
  CHECK(read.node(1).nic.bandwidth.value == 0.125e9);
  CHECK(read.speed_of(4) == 1);
  CHECK(read.speed_of(5) == 0.5);
}

TEST_CASE("an override that cannot be is named", "[cluster]") {
  CHECK_THROWS_WITH(cluster(kGood + "nic_latency@2,1us,test\n"),
                    Contains("x.csv:7: 'nic_latency@2' is of a node that is not there: the last of "
                             "2 is 1"));
  CHECK_THROWS_WITH(
      cluster(kGood + "nodes@1,2,test\n"),
      Contains("x.csv:7: column 'property': 'nodes' is the whole cluster's; nodes may "
               "differ in gpus_per_node, nic_bandwidth"));
  CHECK_THROWS_WITH(cluster(kGood + "nic_latency@one,1us,test\n"),
                    Contains("'one' is not a node or a range of nodes like '3' or '4..7'"));
  CHECK_THROWS_WITH(cluster(kGood + "nic_latency@1..0,1us,test\n"), Contains("'1..0' is not"));
  CHECK_THROWS_WITH(cluster(kGood + "nic_latency@-1,1us,test\n"), Contains("'-1' is not"));
  CHECK_THROWS_WITH(cluster(kGood + "nic_latncy@1,1us,test\n"),
                    Contains("did you mean 'nic_latency'?"));
  CHECK_THROWS_WITH(cluster(kGood + "nic_latency@1,1,test\n"),
                    Contains("x.csv:7: nic_latency@1: '1' has no unit"));
  CHECK_THROWS_WITH(cluster(kGood + "nic_latency@1,1us,test\nnic_latency@1..1,1us,test\n"),
                    Contains("x.csv:8") && Contains("'nic_latency@1' stands twice"));
  CHECK_THROWS_WITH(
      cluster(kGood + "nic_latency@0..1,1us,test\nnic_latency@1,1us,test\n"),
      Contains("x.csv:8: nic_latency@1: 'nic_latency@1' overlaps 'nic_latency@0..1'"));
  CHECK_THROWS_WITH(cluster(kGood + "compute_speed@1,0,test\n"), Contains("'0' is not a speed"));
  Cluster smaller = cluster(kGood + "gpus_per_node@1,1,test\n");
  CHECK(smaller.ranks() == 5);
  set_property(smaller, "nodes", "1");
  CHECK_THROWS_WITH(require_possible(smaller), Contains("'gpus_per_node@1' is of a node"));
}

TEST_CASE("too many ranks are refused, however they are written", "[cluster]") {
  CHECK_THROWS_WITH(cluster(kGood + "gpus_per_node@1,16381,test\n"),
                    Contains("16385 ranks; the most is 16384"));
  CHECK(cluster(kGood + "gpus_per_node@1,16380,test\n").ranks() == kMostRanks);
  CHECK_THROWS_WITH(cluster(kGood + "gpus_per_node@1,16381,test\n"),
                    Contains("where nodes differ, and 65536 where all are alike"));
  Cluster alike = cluster(kGood);
  set_property(alike, "gpus_per_node", "8");
  set_property(alike, "nodes", "8192");
  CHECK_NOTHROW(require_possible(alike));
  CHECK(alike.ranks() == kMostAlikeRanks);
  set_property(alike, "nodes", "8193");
  CHECK_THROWS_WITH(require_possible(alike),
                    Contains("8193 nodes of 8 GPUs are 65544 ranks; the most is 65536"));
  Cluster many = cluster(kGood);
  set_property(many, "nodes", "402905");
  set_property(many, "gpus_per_node", "10660");
  CHECK_THROWS_WITH(require_possible(many), Contains("402905 nodes of 10660 GPUs are 4294967300"));
}

TEST_CASE("a node of thousands of GPUs has one NIC", "[cluster]") {
  CHECK(cluster(kGood + "gpus_per_node@1,1025,test\n").ranks() == 1029);
  CHECK_THROWS_WITH(cluster(kGood + "gpus_per_node@1,1025,test\nnics_per_node,2,test\n"),
                    Contains("x.csv:8: node 1 has 1025 GPUs; with several NICs the most is 1024"));
}

// Links were made one by one until memory ended.
TEST_CASE("too many NICs are refused, however they are written", "[cluster]") {
  Cluster many = cluster(kGood);
  set_property(many, "nics_per_node", "1000000");
  CHECK_THROWS_WITH(require_possible(many),
                    Contains("2 nodes of 1000000 NICs have 2000000 NICs; the most is 65536"));
  CHECK_THROWS_WITH(cluster(kGood + "nics_per_node@1,65536,test\n"),
                    Contains("2 nodes of so many NICs have 65537 NICs; the most is 65536"));
  CHECK_NOTHROW(cluster(kGood + "nics_per_node@1,65535,test\n"));
  // 4096 nodes of 4 GPUs and 4 NICs: a NIC for each of the most ranks.
  set_property(many, "nics_per_node", "4");
  set_property(many, "gpus_per_node", "4");
  set_property(many, "nodes", "4096");
  CHECK_NOTHROW(require_possible(many));
}

// 1024^2 pairs in each node of 16: SimGrid kept a route of each, 1.8 GB of them.
TEST_CASE("nodes of many GPUs and several NICs are few", "[cluster]") {
  Cluster many = cluster(kGood);
  set_property(many, "gpus_per_node", "1024");
  CHECK_NOTHROW(require_possible(many));
  set_property(many, "nics_per_node", "2");
  CHECK_NOTHROW(require_possible(many));
  set_property(many, "nodes", "3");
  CHECK_THROWS_WITH(require_possible(many),
                    Contains("the nodes up to node 2 have 3145728 pairs of GPUs; with several NICs "
                             "the most is 2097152"));
}

TEST_CASE("switches need their uplinks, and uplinks their switches", "[cluster]") {
  const auto refused = [](const std::string& rows, const std::string& says) {
    CHECK_THROWS_WITH(cluster(kGood + rows), Contains("x.csv:7: " + says));
  };
  refused("nodes_per_leaf,1,test\n",
          "'nodes_per_leaf' says nothing without 'leaf_uplink_bandwidth', which is missing");
  refused("leaf_uplink_bandwidth,1Gbps,test\n", "'leaf_uplink_bandwidth' says nothing without");
  refused("leaf_uplink_latency,1us,test\n", "'leaf_uplink_latency' says nothing without");
  refused("leaves_per_pod,1,test\nnodes_per_leaf,1,test\nleaf_uplink_bandwidth,1Gbps,test\n",
          "'leaves_per_pod' says nothing without 'pod_uplink_bandwidth'");
  refused("pod_uplink_latency,1us,test\n", "'pod_uplink_latency' says nothing without");
  refused("planner_startup,1ms,test\n", "'planner_startup' says nothing without");
}

// A NIC of 3 and a host of 4 GB/s: 1/hypot(1/3, 1/4) = 2.4 GB/s.
TEST_CASE("a host's CPU slows a NIC that is about as fast, and hides behind a slow one",
          "[cluster]") {
  Cluster cluster;
  cluster.nic = {BytesPerSecond{3e9}, Seconds{5e-6}};
  CHECK(cluster.node(0).nic.bandwidth.value == 3e9);
  set_property(cluster, "host_bandwidth", "4GBps");
  CHECK(cluster.node(0).nic.bandwidth.value == Approx(2.4e9));
  CHECK(cluster.node(0).nic.latency == Seconds{5e-6});
  cluster.nic.bandwidth = BytesPerSecond{0.04e9};  // 1/hypot(1, 1/100): 0.005 % less
  CHECK(cluster.node(0).nic.bandwidth.value == Approx(0.04e9 * (1 - 5e-5)));
  set_property(cluster, "host_bandwidth", "none");
  CHECK(cluster.node(0).nic.bandwidth.value == Approx(0.04e9));
}

TEST_CASE("a transport that reaches a share of its NIC slows it down, and no latency",
          "[cluster]") {
  Cluster cluster;
  cluster.nic = {BytesPerSecond{1e9}, Seconds{5e-6}};
  set_property(cluster, "nic_share", "60%");
  CHECK(cluster.node(0).nic.bandwidth.value == Approx(0.6e9));
  CHECK(cluster.node(0).nic.latency == Seconds{5e-6});
  for (const char* share : {"0%", "101%"}) {
    set_property(cluster, "nic_share", share);
    CHECK_THROWS_WITH(require_possible(cluster), Contains("of a NIC is not from 0.1% to 100%"));
  }
}

TEST_CASE("no collective begins after more than all of backward", "[cluster]") {
  Cluster cluster;
  set_property(cluster, "late_start", "100%");
  require_possible(cluster);
  set_property(cluster, "late_start", "101%");
  CHECK_THROWS_WITH(require_possible(cluster), Contains("101% of backward is more than all of it"));
}
