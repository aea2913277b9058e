// Sharing of links: by collectives of several network streams, and by GPUs of one node. By hand, on
// every engine; the times are in toy_schedule.hpp.
#include <catch2/catch.hpp>

#include "tests/sim/engine/toy_schedule.hpp"

using namespace gradcast;
using namespace gradcast::toy;
using namespace std::chrono_literals;

// ---- collectives on their way at the same time ----

// Software of 2 ms begins each. One at a time: c 12-26, b 26-36, a 36-42, update. Two: c begins to
// flow at 14, b at 18 with 8 kB of c still to go; both have 8 kB and share until 34; a follows, 2
// and 4 ms.
TEST_CASE("collectives of two network streams share the link", "[schedule]") {
  Scenario scenario = wait_free();
  scenario.cluster.per_collective_latency = 2ms;
  CHECK(astray(scenario, 43) == kNobody);
  scenario.network_streams = 2;
  CHECK(astray(scenario, 41) == kNobody);
}

// Two streams, no latency: c 12-16 alone, then half the link each for c and b, 8 kB both: until 32.
// a is ready at 18 and waits for a stream until then.
TEST_CASE("a collective that shares the link ends later, and the sum is the same", "[schedule]") {
  Scenario scenario = wait_free();
  scenario.network_streams = 2;
  CHECK(astray(scenario, 37) == kNobody);
  const Plan plan = make_plan(scenario);
  for (const Engine* engine : toy::engines_for(scenario)) {
    CAPTURE(engine->name);
    const RunRecord record = engine->run(plan, scenario.cluster);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (plan.steps[i].name == "ring-all-reduce bucket 0")
        CHECK(record.of_rank(1)[i].end.count() == Approx(32e-3).epsilon(1e-9));
      if (plan.steps[i].name == "ring-all-reduce bucket 2")
        CHECK(record.of_rank(1)[i].start.count() == Approx(32e-3).epsilon(1e-9));
    }
  }
}

// Priority with two streams: c from 6, b from 10: 8 kB each at half the link, both until 26, and a
// (ready at 12) 26-30. Forward a 30 + 1/6 + 1, b + 1/3 + 2, c + 1/2 + 3 = 37.
TEST_CASE("a priority queue fills two network streams", "[schedule]") {
  Scenario scenario = wait_free("dense", Queue::Priority);
  scenario.network_streams = 2;
  CHECK(astray(scenario, 37) == kNobody);
}

// Four ranks on four nodes, gTop-k up and down a tree beside a ring that is the same for all nodes.
// A tree's edges must share with a ring's alike on every node.
TEST_CASE("a tree and a ring on two network streams share links at every node", "[schedule]") {
  Scenario scenario = on_nodes(toy::scenario(), 4, 1);
  Plan plan;
  plan.rank_speeds.assign(4, 1);
  plan.network_streams = 2;
  const Collective* tree = find_collective("gtopk");
  const Collective* ring = find_collective("ring-all-gather");
  plan.steps.push_back({StepKind::Collective, "tree", {}, 0s, tree, {Bytes{2000}}});
  plan.steps.push_back({StepKind::Collective, "ring", {}, 0s, ring, {Bytes{100'000}}});
  // The ring is on all links for 300 ms and more. Up: 1 -> 0 and 3 -> 2, then 2 -> 0; down: 0 -> 2,
  // then 0 -> 1 and 2 -> 3. Of these 1 -> 0, 3 -> 2, 2 -> 0, 0 -> 2 share their sender's link with
  // the ring: half of it, 2 kB in 4 ms. So does 0 -> 1, with the ring on both its links; four
  // levels make 16 ms.
  for (const char* name : {"flow-exact", "flow-fluid", "simgrid-exact", "simgrid-fluid"}) {
    const Engine* engine = find_engine(name);
    if (!engine->built()) continue;
    CAPTURE(name);
    const RunRecord record = engine->run(plan, scenario.cluster);
    CHECK(record.of_rank(0)[0].end.count() == Approx(16e-3).epsilon(1e-9));
  }
}

// ---- the network inside nodes ----

// GPUs' own links and the node's path at 1 MB/s. Two GPUs: both messages of a round pass the path,
// 2 x 12 kB, twice: 48 ms. Four: 4 x 6 kB in each of 6 rounds: 144 ms.
TEST_CASE("GPUs of a node share its PCIe path", "[schedule]") {
  Scenario scenario = on_nodes(toy_with("dense", "merged", false), 1, 2);
  scenario.cluster.intra.bandwidth = BytesPerSecond{1e6};
  CHECK(astray(scenario, 6 + 12 + 24 + 1) == kNobody);
  scenario.cluster.pcie_bandwidth = BytesPerSecond{1e6};
  CHECK(astray(scenario, 6 + 12 + 48 + 1) == kNobody);
  scenario.cluster.gpus_per_node = 4;
  CHECK(astray(scenario, 6 + 12 + 144 + 1) == kNobody);
}

// Two nodes of two: rank 0's message to rank 1 and rank 1's to rank 2 both go up node 0's path: 12
// kB a round, 6 rounds.
TEST_CASE("what leaves a node shares its PCIe path with what stays", "[schedule]") {
  Scenario scenario = on_nodes(toy_with("dense", "merged", false), 2, 2);
  CHECK(astray(scenario, 6 + 12 + 36 + 1) == kNobody);  // the NIC: 6 kB a round
  scenario.cluster.pcie_bandwidth = BytesPerSecond{1e6};
  CHECK(astray(scenario, 6 + 12 + 72 + 1) == kNobody);
  scenario.cluster.pcie_bandwidth = BytesPerSecond{4e6};  // 3 ms a round, the NIC takes 6
  CHECK(astray(scenario, 6 + 12 + 36 + 1) == kNobody);
}
