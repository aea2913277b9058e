#include "sim/engine/playback/representatives.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

Topology nodes(int count, int gpus_per_node) {
  Cluster cluster = toy::scenario().cluster;
  cluster.nodes = count;
  cluster.gpus_per_node = gpus_per_node;
  return make_topology(cluster);
}

Phase only_phase(const char* collective, const Topology& topology) {
  const RankLayout layout =
      even_layout(topology.ranks / topology.gpus_per_node, topology.gpus_per_node);
  return find_collective(collective)->phases(layout, {.payload = Bytes{48'000}}).at(0);
}

using Numbers = std::vector<std::size_t>;

}  // namespace

// In a ring on 3 nodes of 2 GPUs, the first node sends two messages: to its own second GPU, and on.
TEST_CASE("one node's flows stand for all where the phase is the same for every node", "[fluid]") {
  const Topology topology = nodes(3, 2);
  const Phase ring = only_phase("ring-all-reduce", topology);
  REQUIRE(ring.messages.size() == 6);
  for (const Company company : {Company::None, Company::Alike}) {
    const Numbers numbers = representatives(ring, topology, company);
    REQUIRE(numbers.size() == 2);
    for (const std::size_t number : numbers) CHECK(ring.messages[number].from < 2);
  }
  CHECK(representatives(ring, topology, Company::Anyone).size() == 6);
}

// Three ranks send to rank 3, and one to rank 4: the three share the link into rank 3.
TEST_CASE("the busiest link's flows stand for all where nothing else is on the network",
          "[fluid]") {
  const Topology topology = nodes(6, 1);
  Phase phase;
  for (const int from : {0, 1, 2}) phase.messages.push_back({from, 3, Bytes{1000}});
  phase.messages.push_back({5, 4, Bytes{1000}});
  CHECK(representatives(phase, topology, Company::None) == Numbers{0, 1, 2});
  CHECK(representatives(phase, topology, Company::Alike) == Numbers{0, 1, 2, 3});
}
