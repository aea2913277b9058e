// Collectives of several communicators, and in groups of ranks, on every engine. By hand: four
// nodes of two GPUs. Inside nodes a message takes 3 ms whatever its size; between them 1000 bytes
// take 1 ms on the NIC that both GPUs share, and there is no latency.
//
// "shards": an all-gather of each node's two GPUs, one round: 3 ms. "replicas": an all-reduce of
// 4000 bytes among the GPUs of equal place, in chunks of 1000 bytes, two at a time on each NIC: six
// rounds of 2 ms, 12 ms.
#include <catch2/catch.hpp>
#include <string>

#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

constexpr int kShards = 1;
constexpr int kReplicas = 2;

Cluster four_nodes_of_two() {
  Cluster cluster;
  cluster.nodes = 4;
  cluster.gpus_per_node = 2;
  cluster.nic = {BytesPerSecond{1e6}, 0s};
  cluster.intra = {BytesPerSecond{1e15}, 3ms};
  return cluster;
}

PlanStep shards(int communicator = kShards) {
  PlanStep step{StepKind::Collective, "shards", {}, 0s, find_collective("ring-all-gather"), {}};
  step.load.payload = Bytes{500};
  step.groups = {.stride = 1, .length = 2};
  step.communicator = communicator;
  return step;
}

PlanStep replicas(int communicator = kReplicas) {
  PlanStep step{StepKind::Collective, "replicas", {}, 0s, find_collective("ring-all-reduce"), {}};
  step.load.payload = Bytes{4000};
  step.groups = {.stride = 2, .length = 4};
  step.communicator = communicator;
  return step;
}

Plan plan_of(std::vector<PlanStep> steps) {
  Plan plan;
  plan.rank_speeds.assign(8, 1);
  plan.steps = std::move(steps);
  return plan;
}

/// "0-3 3-15": from when to when rank 0 is in each step, in milliseconds. The same on all engines,
/// or all they say.
std::string dates(const Plan& plan, bool contended = false) {
  std::vector<std::string> all;
  for (const Engine& engine : all_engines()) {
    if (!engine.built() || (contended && engine.name == "analytic")) continue;
    const RunRecord record = engine.run(plan, four_nodes_of_two());
    std::string its;
    for (const Interval& interval : record.of_rank(0))
      its += (its.empty() ? "" : " ") + std::to_string(std::lround(interval.start.count() * 1e3)) +
             "-" + std::to_string(std::lround(interval.end.count() * 1e3));
    all.push_back(its);
  }
  std::string joined = all.front();
  for (const std::string& its : all)
    if (its != all.front()) joined += " or " + its;
  return joined;
}

}  // namespace

TEST_CASE("collectives of two communicators on different links end as if each was alone",
          "[communicators]") {
  CHECK(dates(plan_of({shards()})) == "0-3");
  CHECK(dates(plan_of({replicas()})) == "0-12");
  CHECK(dates(plan_of({shards(), replicas()})) == "0-3 0-12");
  CHECK(dates(plan_of({replicas(), shards()})) == "0-12 0-3");
}

TEST_CASE("collectives of one communicator go one after another, in the plan's order",
          "[communicators]") {
  CHECK(dates(plan_of({shards(kShards), replicas(kShards)})) == "0-3 3-15");
  CHECK(dates(plan_of({replicas(kShards), shards(kShards)})) == "0-12 12-15");
}

// Shards 0-3, 3-6 and 6-9, replicas 0-12 and 12-24 beside them.
TEST_CASE("each communicator has a queue of its own", "[communicators]") {
  CHECK(dates(plan_of({shards(), replicas(), shards(), replicas(), shards()})) ==
        "0-3 0-12 3-6 12-24 6-9");
}

// The second of the replicas waits for the first of the shards, which holds up no other shard.
TEST_CASE("a collective that is not ready holds up its own communicator only", "[communicators]") {
  PlanStep computing{StepKind::Backward, "computing", {}, 5ms};
  PlanStep waiting = replicas();
  waiting.after = {0};
  CHECK(dates(plan_of({computing, waiting, shards(), shards()})) == "0-5 5-17 0-3 3-6");
  waiting.communicator = kShards;
  CHECK(dates(plan_of({computing, waiting, shards(), shards()})) == "0-5 5-17 17-20 20-23");
}

// Two streams of a communicator are two at a time of that one: 12 kB on each NIC from 0 for each of
// two all-reduces: both have half of it until 24, and the third follows, 12 ms.
TEST_CASE("network streams are counted by communicator", "[communicators]") {
  Plan plan = plan_of({replicas(), replicas(), replicas(), shards()});
  plan.network_streams = 2;
  for (const char* name : {"flow-exact", "flow-fluid", "simgrid-exact", "simgrid-fluid"}) {
    const Engine& engine = *find_engine(name);
    if (!engine.built()) continue;
    const RunRecord record = engine.run(plan, four_nodes_of_two());
    CAPTURE(name);
    CHECK(record.of_rank(0)[1].end.count() == Approx(24e-3).epsilon(1e-6));
    CHECK(record.of_rank(0)[2].start.count() == Approx(24e-3).epsilon(1e-6));
    CHECK(record.of_rank(0)[3].end.count() == Approx(3e-3).epsilon(1e-6));
  }
}

// Both all-reduces have half of every NIC: 24 ms. The closed form knows no contention.
TEST_CASE("communicators share the links that they both use", "[communicators]") {
  CHECK(dates(plan_of({replicas(), replicas(kShards)}), true) == "0-24 0-24");
}

TEST_CASE("communication of two communicators at a time counts once", "[communicators]") {
  for (const Engine& engine : all_engines()) {
    if (!engine.built()) continue;
    CAPTURE(engine.name);
    const Plan plan = plan_of({shards(), replicas()});
    const IterationResult result = summarize(plan, engine.run(plan, four_nodes_of_two()));
    CHECK(result.iteration.count() == Approx(12e-3).epsilon(1e-6));
    CHECK(result.communication.count() == Approx(12e-3).epsilon(1e-6));
    CHECK(result.exposed_communication.count() == Approx(12e-3).epsilon(1e-6));
  }
}

// Rank 0 computes for 20 ms and the others for 10. At each of its barriers a tree waits for its own
// group: that of ranks 2 and 3 is over at 10 + 2 * 3 ms, that of ranks 0 and 1 at 20 + 2 * 3 ms.
TEST_CASE("a group in lockstep does not wait for the ranks of another", "[communicators]") {
  const Engine& exact = *find_engine("flow-exact");
  PlanStep computing{StepKind::Backward, "computing", {}, 10ms};
  PlanStep tree = shards();
  tree.collective = find_collective("double-binary-tree");
  tree.after = {0};
  Plan plan = plan_of({computing, tree});
  plan.rank_speeds[0] = 0.5;
  const RunRecord record = exact.run(plan, four_nodes_of_two());
  CHECK(record.of_rank(1)[1].end.count() == Approx(26e-3).epsilon(1e-6));
  CHECK(record.of_rank(2)[1].end.count() == Approx(16e-3).epsilon(1e-6));
}
