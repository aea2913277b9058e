// Platforms that SimGrid builds and reads, through functions that do not need its headers.
#include "sim/engine/simgrid_platform.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/engine/engine.hpp"
#include "sim/inputs/cluster_faults.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/topology.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

bool built_with_simgrid() { return find_engine("simgrid")->built(); }

/// Nodes of 3 GPUs, but for what `changes` say.
Cluster cluster(int nodes, const std::vector<std::pair<std::string, std::string>>& changes) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = 3;
  cluster.nic = {BytesPerSecond{1e9}, Seconds{20e-6}};
  cluster.intra = {BytesPerSecond{10e9}, Seconds{4e-6}};
  for (const auto& [name, value] : changes) set_property(cluster, name, value);
  require_possible(cluster);
  return cluster;
}

std::string names_in_topology(const Cluster& cluster, int from, int to) {
  const Topology topology = make_topology(cluster);
  std::vector<std::uint32_t> links;
  topology.route(from, to, links);
  std::vector<std::string> names;
  for (const std::uint32_t link : links) names.push_back(topology.links[link].name);
  return join(names, " ");
}

/// Three hosts, named so that their order in the file and in the alphabet are both wrong.
const std::string kPlatform = R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="zone" routing="Full">
    <host id="host10" speed="1Gf"/>
    <host id="host2" speed="2Gf"/>
    <host id="host1" speed="2Gf"/>
    <link id="a" bandwidth="10Gbps" latency="5us" sharing_policy="SHARED"/>
    <link id="b" bandwidth="1Gbps" latency="7us" sharing_policy="SPLITDUPLEX"/>
    <route src="host10" dst="host2"><link_ctn id="a"/></route>
    <route src="host10" dst="host1"><link_ctn id="b" direction="UP"/></route>
    <route src="host2" dst="host1"><link_ctn id="a"/><link_ctn id="b" direction="UP"/></route>
  </zone>
</platform>
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

class Platforms {
 public:
  Cluster load(const std::string& content) {
    return load_xml_cluster(read_text_file(folder_.write("mine.xml", content)));
  }
  void refused(const std::string& content, const std::string& says) {
    CAPTURE(says);
    try {
      load(content);
      FAIL("not refused");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::BadInput);
      const std::string what = error.what();
      CHECK_THAT(what, Contains("mine.xml") && Contains(says));
      CHECK(what.find('\n') == std::string::npos);
      CHECK(what.find("mine.xml") == what.rfind("mine.xml"));  // named once
    }
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("SimGrid's routes are the topology's", "[simgrid]") {
  if (!built_with_simgrid()) return;
  const std::vector<std::pair<std::string, std::string>> tree = {{"nodes_per_leaf", "2"},
                                                                 {"leaf_uplink_bandwidth", "1Gbps"},
                                                                 {"leaves_per_pod", "2"},
                                                                 {"pod_uplink_bandwidth", "1Gbps"}};
  auto all = tree;
  all.insert(all.end(), {{"pcie_bandwidth", "12GBps"},
                         {"nics_per_node", "2"},
                         {"gpus_per_node@1..2", "2"},
                         {"nics_per_node@5", "1"},
                         {"gpus_per_node@6", "1"}});
  const Cluster clusters[] = {
      cluster(3, {}),
      cluster(3, {{"pcie_bandwidth", "12GBps"}}),
      cluster(3, {{"nics_per_node", "2"}}),
      cluster(3, {{"pcie_bandwidth", "12GBps"}, {"nics_per_node", "4"}}),
      cluster(5, {{"nodes_per_leaf", "2"}, {"leaf_uplink_bandwidth", "1Gbps"}}),
      cluster(2, {{"nodes_per_leaf", "4"}, {"leaf_uplink_bandwidth", "1Gbps"}}),
      cluster(7, tree),
      cluster(7, all),
      cluster(
          6, {{"gpus_per_node", "1"}, {"nodes_per_leaf", "2"}, {"leaf_uplink_bandwidth", "1Gbps"}}),
      // A node of one GPU beside others, on the switch and on a leaf.
      cluster(3, {{"gpus_per_node@0", "1"}, {"pcie_bandwidth", "12GBps"}}),
      cluster(4, {{"gpus_per_node@1..2", "1"}}),
      cluster(3, {{"gpus_per_node@2", "1"}, {"nics_per_node", "2"}}),
      cluster(
          4,
          {{"nodes_per_leaf", "2"}, {"leaf_uplink_bandwidth", "1Gbps"}, {"gpus_per_node@0", "1"}}),
  };
  for (std::size_t which = 0; which < std::size(clusters); ++which) {
    const Cluster& on = clusters[which];
    CAPTURE(which);
    // Inside the first node, then to every other.
    for (int to = 1; to < on.ranks(); ++to)
      CHECK(join(simulated_route(on, 0, to), " ") == names_in_topology(on, 0, to));
    for (const int to : {0, 2, 4})
      CHECK(join(simulated_route(on, on.ranks() - 1, to), " ") ==
            names_in_topology(on, on.ranks() - 1, to));
  }
}

TEST_CASE("the hosts of a platform file are ranks in natural order", "[simgrid]") {
  if (!built_with_simgrid()) return;
  Platforms platforms;
  const Cluster read = platforms.load(kPlatform);
  CHECK(read.nodes == 3);
  CHECK(read.ranks() == 3);
  CHECK(read.speed_of(0) == 1);
  CHECK(read.speed_of(1) == 1);
  CHECK(read.speed_of(2) == 0.5);  // host10
  CHECK(simulated_route(read, 0, 1) == std::vector<std::string>{"b_DOWN", "a"});
  CHECK(simulated_route(read, 1, 2) == std::vector<std::string>{"a"});
  CHECK(simulated_route(read, 2, 0) == std::vector<std::string>{"b_UP"});
}

TEST_CASE("two platforms after one another do not know of each other", "[simgrid]") {
  if (!built_with_simgrid()) return;
  Platforms platforms;
  CHECK(platforms.load(kPlatform).nodes == 3);
  CHECK(platforms
            .load(R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-11" speed="1Gf" bw="10Gbps" lat="20us"/>
</platform>
)")
            .nodes == 12);
  CHECK(platforms.load(kPlatform).nodes == 3);
}

TEST_CASE("what a platform says is not said again by a flag", "[simgrid]") {
  if (!built_with_simgrid()) return;
  Platforms platforms;
  Cluster read = platforms.load(kPlatform);
  CHECK_THROWS_WITH(set_property(read, "nic_bandwidth", "1Gbps"),
                    Contains("said by the platform file; change it in '") && Contains("mine.xml'"));
  CHECK_THROWS_WITH(set_property(read, "nodes", "4"), Contains("said by the platform file"));
  CHECK_THROWS_WITH(set_property(read, "compute_speed@1", "2"), Contains("the platform file"));
  CHECK_NOTHROW(set_property(read, "nodes", "3"));
  CHECK_NOTHROW(set_property(read, "per_iteration_overhead", "2ms"));
  for (const ClusterProperty& property : properties_of(read)) {
    CAPTURE(property.name);
    CHECK_NOTHROW(set_property(read, property.name, property.value));
  }
  CHECK_THROWS_WITH(make_topology(read), Contains("only --engine simgrid can read it"));
}

TEST_CASE("a platform that cannot be simulated is refused in a line", "[simgrid]") {
  if (!built_with_simgrid()) return;
  Platforms platforms;
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& says) {
    platforms.refused(with(kPlatform, from, to), says);
  };
  platforms.refused("hello\n", "mine.xml:1: SimGrid cannot read this platform: Invalid XML");
  platforms.refused("", "mine.xml:1: SimGrid cannot read this platform");
  platforms.refused(kPlatform.substr(0, 300),
                    "mine.xml:8: this is no XML of a platform: the attribute 'sh' has no value");
  refused("10Gbps", "10 parsecs", "mine.xml:8: SimGrid cannot read this platform: unknown unit");
  refused("dst=\"host1\"", "dst=\"hostX\"", "mine.xml:11: ");
  refused("host1\" speed", "host2\" speed", "second host named 'host2'");
  refused("10Gbps", "-10Gbps", "link 'a' has a bandwidth of -1250000000 bytes a second");
  refused("10Gbps", "0Gbps", "link 'a' has a bandwidth of 0");
  refused("10Gbps", "nanGbps", "link 'a' has a bandwidth of nan");
  refused("5us", "-5us", "link 'a' has a latency of -");
  refused("2Gf", "0f", "host 'host2' has a speed of 0 flop/s");
  refused("2Gf", "-2Gf", "host 'host2' has a speed of -");
  refused("2Gf", "2000Gf", "computes less than a thousandth as fast as the fastest");
  refused("latency=\"5us\"", "latency=\"5us\" latency_file=\"x\"",
          "mine.xml:8: latencies that change with time are not simulated");
  // SimGrid returns no link, throws, aborts and crashes.
  const std::string route = R"(<route src="host2" dst="host1"><link_ctn id="a"/>)";
  const std::string alone = R"(<route src="host10" dst="host2"><link_ctn id="a"/>)";
  refused(route, alone, "SimGrid cannot read this platform");  // said twice
  std::string lacking = kPlatform;
  lacking.erase(lacking.find("    <route src=\"host2\""),
                lacking.find("  </zone>") - lacking.find("    <route src=\"host2\""));
  platforms.refused(lacking, "host 'host1' has no route to host 'host2'");
  for (const char* routing : {"Floyd", "Dijkstra"})
    platforms.refused(
        R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="zone" routing=")" +
            std::string(routing) + R"(">
    <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
    <link id="l" bandwidth="10Gbps" latency="5us"/>
    <route src="a" dst="b"><link_ctn id="l"/></route>
  </zone>
</platform>
)",
        // Dijkstra zones answer nothing at all where one host hangs on no link.
        std::string("host 'a' has no route to host '") + (routing[0] == 'F' ? "c'" : "b'"));
  platforms.refused(R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="zone" routing="Full">
    <cluster id="c" prefix="a-" suffix="" radical="0-1" speed="1Gf" bw="10Gbps" lat="20us"/>
    <cluster id="d" prefix="b-" suffix="" radical="0-1" speed="1Gf" bw="10Gbps" lat="20us"/>
  </zone>
</platform>
)",
                    "host 'a-0' has no route to host 'b-0'");
  platforms.refused(R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="zone" routing="Full"/>
</platform>
)",
                    "the platform has no host");
  platforms.refused(
      R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-16384" speed="1Gf" bw="10Gbps" lat="20us"/>
</platform>
)",
      "mine.xml:4: the platform has 16385 hosts up to here; the most ranks are 16384");
}

TEST_CASE("a build without SimGrid says what reads platform files", "[simgrid]") {
  if (built_with_simgrid()) return;
  CHECK_THROWS_AS(load_xml_cluster({"x.xml", kPlatform}), MissingError);
}
