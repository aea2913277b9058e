// The contract of every engine. A new one is covered by its row in engine.cpp.
#include "sim/engine/engine.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "sim/engine/iteration_result.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

/// Only engines that this build has; `gradcast list` tells of the others.
template <class Body>
void for_each_engine(Body body) {
  for (const Engine& engine : all_engines())
    if (engine.built()) DYNAMIC_SECTION(std::string(engine.name)) {
        body(engine);
      }
}

Plan one_collective(const Collective& collective, int ranks, Bytes payload) {
  Plan plan;
  plan.rank_speeds.assign(static_cast<std::size_t>(ranks), 1.0);
  plan.steps.push_back({StepKind::Collective, "it", {}, Seconds{0}, &collective, payload});
  return plan;
}

Cluster cluster(int nodes, int gpus_per_node, Link nic, Link intra) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = gpus_per_node;
  cluster.nic = nic;
  cluster.intra = intra;
  return cluster;
}

double seconds(const Engine& engine, const Plan& plan, const Cluster& on) {
  return summarize(plan, engine.run(plan, on)).iteration.count();
}

const Link kNic{BytesPerSecond{10e9}, 2us};
const Link kFast{BytesPerSecond{100e9}, 1us};

double toy_iteration(const Engine& engine, const char* compressor, const char* fusion,
                     bool overlap) {
  Scenario scenario = toy::scenario(compressor);
  scenario.fusion = parse_fusion(fusion);
  scenario.overlap = overlap;
  return run(scenario, engine).iteration.count() / toy::kMilli;
}

}  // namespace

// 8 ranks, 80 MB: 2*(8-1) rounds of 10 MB at 10 GB/s (1 ms) and 2 us. 14 * 1.002 ms = 14.028 ms.
TEST_CASE("a ring all-reduce takes what arithmetic says", "[engine]") {
  for_each_engine([](const Engine& engine) {
    const Plan plan = one_collective(*find_collective("ring-all-reduce"), 8, Bytes{80'000'000});
    CHECK(seconds(engine, plan, cluster(8, 1, kNic, kFast)) == Approx(14.028e-3).epsilon(1e-9));
  });
}

// 5 ranks, 1 MB each: 4 rounds of 1 MB at 10 GB/s (100 us) and 2 us. 4 * 102 us = 408 us.
TEST_CASE("a ring all-gather takes what arithmetic says", "[engine]") {
  for_each_engine([](const Engine& engine) {
    const Plan plan = one_collective(*find_collective("ring-all-gather"), 5, Bytes{1'000'000});
    CHECK(seconds(engine, plan, cluster(5, 1, kNic, kFast)) == Approx(408e-6).epsilon(1e-9));
  });
}

// 2 nodes of 4: six of the eight ring edges stay inside a node, and the two that do not set the
// pace: 14 messages of 1 ms leave one after another, and only the last one's latency shows, 14.002
// ms. Inside one node no NIC is passed: 6 rounds of 20 MB at 100 GB/s (200 us) and 1 us.
TEST_CASE("only ring edges between nodes cross a NIC", "[engine]") {
  for_each_engine([](const Engine& engine) {
    const Collective& ring = *find_collective("ring-all-reduce");
    CHECK(seconds(engine, one_collective(ring, 8, Bytes{80'000'000}), cluster(2, 4, kNic, kFast)) ==
          Approx(14.002e-3).epsilon(1e-9));
    CHECK(seconds(engine, one_collective(ring, 4, Bytes{80'000'000}), cluster(1, 4, kNic, kFast)) ==
          Approx(6 * 201e-6).epsilon(1e-9));
  });
}

// SimGrid's TCP window would cap a flow of 5 ms latency at 4 MiB in 10 ms. 80 MB at 10 GB/s: 8 + 5
// ms.
TEST_CASE("latency does not throttle bandwidth", "[engine]") {
  for_each_engine([](const Engine& engine) {
    const Plan plan = one_collective(*find_collective("ring-all-gather"), 2, Bytes{80'000'000});
    CHECK(seconds(engine, plan, cluster(2, 1, {BytesPerSecond{10e9}, 5ms}, kFast)) ==
          Approx(13e-3).epsilon(1e-9));
  });
}

// A link inside the node that is slower than the NIC sets the pace of messages that leave it too:
// 2 rounds of 40 MB at 5 GB/s (8 ms), with the NIC's 2 us.
TEST_CASE("a message between nodes is as fast as the slower of NIC and node", "[engine]") {
  for_each_engine([](const Engine& engine) {
    CHECK(seconds(engine, one_collective(*find_collective("ring-all-reduce"), 2, Bytes{80'000'000}),
                  cluster(2, 1, kNic, {BytesPerSecond{5e9}, 0s})) ==
          Approx(2 * 8.002e-3).epsilon(1e-9));
  });
}

TEST_CASE("an empty payload still takes its latency, one rank takes nothing", "[engine]") {
  for_each_engine([](const Engine& engine) {
    const Collective& ring = *find_collective("ring-all-gather");
    CHECK(seconds(engine, one_collective(ring, 3, Bytes{0}), cluster(3, 1, kNic, kFast)) ==
          Approx(4e-6).epsilon(1e-4));  // 1 byte is simulated: 0.1 ns
    CHECK(seconds(engine, one_collective(ring, 1, Bytes{1'000'000}), cluster(1, 1, kNic, kFast)) ==
          0);
  });
}

namespace {

/// Collectives of one message: a byte from node 0 to node 1, and 10 MB inside node 0.
std::vector<Phase> between_nodes(const RankLayout&, const CollectiveLoad&) {
  return {{.messages = {{0, 2, Bytes{1}}}}};
}
std::vector<Phase> inside_node_0(const RankLayout&, const CollectiveLoad&) {
  return {{.messages = {{1, 0, Bytes{10'000'000}}}}};
}

Collective of_phases(std::vector<Phase> (*phases)(const RankLayout&, const CollectiveLoad&)) {
  return {.name = "of phases",
          .outcome = Outcome::AllReduced,
          .serves = Aggregation::AllReduce,
          .phases = phases};
}

/// One after the other on 2 nodes of 2, and how long that takes on every engine. The second waits
/// for `after`, steps put between them, and both for what software does.
void check_two_in_a_row(const std::vector<PlanStep>& between, Seconds software, double expected) {
  const Collective first = of_phases(between_nodes);
  const Collective second = of_phases(inside_node_0);
  Plan plan;
  plan.rank_speeds.assign(4, 1.0);
  plan.steps.push_back({StepKind::Collective, "first", {}, software, &first});
  std::vector<std::size_t> after;
  for (const PlanStep& step : between) {
    after.push_back(plan.steps.size());
    plan.steps.push_back(step);
  }
  plan.steps.push_back({StepKind::Collective, "second", after, software, &second});
  for_each_engine([&](const Engine& engine) {
    CHECK(seconds(engine, plan,
                  cluster(2, 2, {BytesPerSecond{10e9}, 4ms}, {BytesPerSecond{1e9}, 0s})) ==
          Approx(expected).epsilon(1e-6));
  });
}

}  // namespace

// The byte is 4 ms on its way to rank 2, which nobody else waits for: rank 1 is free at once, and
// its 10 MB at 1 GB/s are with rank 0 at 10 ms, longer than until the first is over everywhere.
TEST_CASE("who is through with a collective goes on to the next", "[engine]") {
  check_two_in_a_row({}, 0s, 10e-3);
}

// The second is there after a forward of 3 ms: 3 + 10.
TEST_CASE("who is through goes on to what is there, and no earlier", "[engine]") {
  check_two_in_a_row({{StepKind::Forward, "forward", {}, 3ms}}, 0s, 13e-3);
}

// Rank 1 is through with the software of both at 2 * 0.5 ms: 1 + 10.
TEST_CASE("who is through begins with the next one's software", "[engine]") {
  check_two_in_a_row({}, 500us, 11e-3);
}

TEST_CASE("a GPU twice as fast halves its own time, and not the host's", "[engine]") {
  Plan plan;
  plan.rank_speeds = {2};
  plan.steps.push_back({StepKind::Overhead, "overhead", {}, 10ms});
  plan.steps.push_back({StepKind::Forward, "forward", {0}, 20ms});
  for_each_engine([&](const Engine& engine) {
    CHECK(seconds(engine, plan, cluster(1, 1, kNic, kFast)) == Approx(20e-3));  // 10 + 20 / 2
  });
}

// 2 nodes of 2, 1 MB a round: 1 ms over a NIC, 0.01 ms inside a node, 0.5 ms to add it up. Rank 0
// (and 2) receives over a NIC and rank 1 (and 3) sends over one. In milliseconds they begin
//   rank 0 at 0, 1 + 0.5 = 1.5,            1 + 1.5 = 2.5,    and are through at 2.01 + 1.5 = 3.51,
//   rank 1 at 0, max(1, 0.01 + 0.5) = 1,   1.5 + 0.51 = 2.01,                  2.01 + 1 = 3.01.
TEST_CASE("a rank adds up what it received while it still sends", "[engine]") {
  for_each_engine([](const Engine& engine) {
    Cluster on = cluster(2, 2, {BytesPerSecond{1e9}, 0s}, {BytesPerSecond{100e9}, 0s});
    on.reduction_bandwidth = BytesPerSecond{2e9};
    CHECK(seconds(engine,
                  one_collective(*find_collective("ring-reduce-scatter"), 4, Bytes{4'000'000}),
                  on) == Approx(3.51e-3).epsilon(1e-9));
  });
}

// 3 nodes of 2 over NICs of 5 ms: ranks are through with a ring at different times, the last at
// 24 ms. The next begins on each when it is through and has computed, never sooner: the later that
// is, the later all ends, without a step at 24 ms.
TEST_CASE("ranks begin a collective one by one, but not before it is ready", "[engine]") {
  const auto plan_of = [](Seconds computing) {
    const Collective& ring = *find_collective("ring-all-gather");
    Plan plan = one_collective(ring, 6, Bytes{3'000'000});
    plan.steps.push_back({StepKind::Backward, "computing", {}, computing});
    plan.steps.push_back({StepKind::Collective, "next", {1}, 1ms, &ring, {.payload = {3'000'000}}});
    return plan;
  };
  const Cluster on = cluster(3, 2, {BytesPerSecond{1e9}, 5ms}, kFast);
  const Engine& analytic = *find_engine("analytic");
  CHECK(analytic.run(plan_of(0s), on).of_rank(0)[0].end.count() == Approx(24e-3).epsilon(1e-2));
  double before = 0;
  for (const Seconds computing : {0ms, 5ms, 15ms, 18ms, 20ms, 22ms, 23ms, 24ms, 25ms, 30ms}) {
    CAPTURE(computing.count());
    const double its = seconds(analytic, plan_of(computing), on);
    CHECK(its >= before);
    before = its;
    for (const Engine& engine : all_engines())
      if (engine.built())
        CHECK(seconds(engine, plan_of(computing), on) == Approx(its).epsilon(1e-9));
  }
}

// The toy: forward 6 ms, backward c 6, b 4, a 2, update 1. An all-reduce of two ranks sends half
// the bytes twice: a, b, c take 4, 8, 12 ms, together 24.
TEST_CASE("dense schedules of the toy are what can be added by hand", "[engine]") {
  for_each_engine([](const Engine& engine) {
    // 6 + 12 + 24 + 1
    CHECK(toy_iteration(engine, "dense", "merged", false) == Approx(43).epsilon(1e-9));
    // The same, one after another: 6 + 12 + (12 + 8 + 4) + 1
    CHECK(toy_iteration(engine, "dense", "layer", false) == Approx(43).epsilon(1e-9));
    // c is ready at 12 and sent until 24, b until 32, a until 36; then the update.
    CHECK(toy_iteration(engine, "dense", "layer", true) == Approx(37).epsilon(1e-9));
    // 16 kB: c + b are ready at 16 and sent until 36, a until 40.
    CHECK(toy_iteration(engine, "dense", "16000B", true) == Approx(41).epsilon(1e-9));
    // One bucket cannot overlap with the backward that fills it.
    CHECK(toy_iteration(engine, "dense", "merged", true) == Approx(43).epsilon(1e-9));
  });
}

// Top-k at 0.01: encode a, b, c 1, 2, 3 ms, decode half of that; payloads of 80, 160, 240 bytes
// take 0.08, 0.16, 0.24 ms.
TEST_CASE("sparse schedules of the toy are what can be added by hand", "[engine]") {
  for_each_engine([](const Engine& engine) {
    // 6 + 12 + encode 6 + gather 0.48 + decode 3 + update 1
    CHECK(toy_iteration(engine, "topk", "merged", false) == Approx(28.48).epsilon(1e-9));
    // In three pieces it is the same: nothing is sent before all are encoded.
    CHECK(toy_iteration(engine, "topk", "layer", false) == Approx(28.48).epsilon(1e-9));
    // With overlap the gathers are hidden: 6 + 12 + 6 + 3 + 1.
    CHECK(toy_iteration(engine, "topk", "layer", true) == Approx(28).epsilon(1e-9));
  });
}

// Rank 1 computes at half speed: forward 12, backward 24. Rank 0 waits for it, then both send 24
// ms; rank 1's update takes 2.
TEST_CASE("a slow rank is waited for, and the iteration ends with it", "[engine]") {
  for_each_engine([](const Engine& engine) {
    Plan plan = make_plan(toy::scenario());
    plan.rank_speeds[1] = 0.5;
    const Cluster on = toy::scenario().cluster;
    const RunRecord record = engine.run(plan, on);
    const IterationResult result = summarize(plan, record);
    CHECK(result.rank == 1);
    CHECK(result.iteration.count() == Approx(62e-3).epsilon(1e-9));
    CHECK(result.wait.count() == Approx(0).margin(1e-12));
    // Rank 0 is ready at 18 ms, and its collective ends with the other's.
    CHECK(record.of_rank(0)[6].start.count() == Approx(18e-3).epsilon(1e-9));
    CHECK(record.of_rank(0)[6].end.count() == Approx(60e-3).epsilon(1e-9));
  });
}

TEST_CASE("the same run twice gives the same bits", "[engine]") {
  for_each_engine([](const Engine& engine) {
    const Plan plan = one_collective(*find_collective("ring-all-gather"), 5, Bytes{12'345});
    const Cluster on = cluster(5, 1, kNic, kFast);
    const double first = seconds(engine, plan, on);
    CHECK(seconds(engine, plan, on) == first);
  });
}

namespace {

std::vector<Phase> throws(const RankLayout&, const CollectiveLoad&) {
  throw std::out_of_range("no such step");
}
}  // namespace

TEST_CASE("an engine never reports a time for a run that did not finish", "[engine]") {
  for_each_engine([](const Engine& engine) {
    const Collective broken{
        "broken", "",      "",    Outcome::AllReduced, Aggregation::AllReduce, false, false,
        nullptr,  nullptr, throws};
    CHECK_THROWS_WITH(engine.run(one_collective(broken, 4, Bytes{4}), cluster(4, 1, kNic, kFast)),
                      Catch::Contains("no such step"));
  });
}

TEST_CASE("simulated messages are counted", "[engine]") {
  const Plan plan = one_collective(*find_collective("ring-all-reduce"), 4, Bytes{1000});
  for (const std::string name : {"flow", "simgrid"}) {
    const Engine* engine = find_engine(name);
    if (!engine->built()) continue;
    const RunRecord record = engine->run(plan, cluster(4, 1, kNic, kFast));
    CHECK(record.flows_simulated == 4 * 6);
    CHECK(record.engine == name + "-exact");
  }
}

// 600 nodes in a ring, of which one's NIC has half the bandwidth: 599 rounds of 1 MB at 5 GB/s (0.2
// ms), the pace of all, and the latencies that the last byte meets. Fluid, 600 flows are too many
// where nothing can meet them; with two streams something could.
TEST_CASE("very many flows that nothing else can meet are simulated as one", "[engine]") {
  const Engine* fluid = find_engine("flow-fluid");
  Plan plan = one_collective(*find_collective("ring-all-gather"), 600, Bytes{1'000'000});
  Cluster on = cluster(600, 1, kNic, kFast);
  set_property(on, "nic_bandwidth@3", "5GBps");
  const RunRecord one = fluid->run(plan, on);
  CHECK(one.flows_simulated == 1);
  const double took = summarize(plan, one).iteration.count();
  CHECK(took == Approx(599 * 0.2e-3).epsilon(0.02));
  CHECK(took == Approx(seconds(*find_engine("analytic"), plan, on)).epsilon(1e-9));

  plan.network_streams = 2;
  const RunRecord many = fluid->run(plan, on);
  CHECK(many.flows_simulated == 600);
  CHECK(summarize(plan, many).iteration.count() == Approx(took).epsilon(1e-9));
}

TEST_CASE("engines are found by name", "[engine]") {
  for (const Engine& engine : all_engines()) {
    CHECK(find_engine(engine.name) == &engine);
    CHECK((engine.built() || !engine.needs.empty()));
  }
  CHECK(all_engines()[0].name == "flow");  // the default
  for (const Engine& engine : all_engines())
    if (!engine.fluid.empty()) CHECK(is_fluid(find_engine(engine.fluid)->name));
  CHECK(find_engine("ns-3") == nullptr);
}
