// What goes on around a job: files of events, and what each does to the toy, in closed form.
//
// The toy, dense and merged, in ms: forward 0-6, backward 6-18 (c until 12, b 16, a 18), 24 of
// communication (two rounds of 12 kB at 1 MB/s) 18-42, update 42-43.
#include "sim/inputs/world.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "sim/base/error.hpp"
#include "sim/engine/playback/outcome.hpp"
#include "tests/sim/engine/every_engine.hpp"

using namespace gradcast;
using namespace std::chrono_literals;
using toy::astray;
using toy::kNobody;

namespace {

constexpr double kPerMille = 0.043;  // of the toy's 43 ms

/// 2 nodes of 2: ranks 0 to 3.
Cluster four_ranks() {
  Cluster cluster = toy::scenario().cluster;
  cluster.gpus_per_node = 2;
  return cluster;
}

World read(const std::string& rows) {
  return load_events({"events.csv", "event,target,at,lasting,value\n" + rows}, four_ranks());
}

/// The toy while this goes on.
Scenario during(const World& world) {
  Scenario scenario = toy::scenario();
  scenario.world = world;
  return scenario;
}

Scenario during(const RankEvent& event) {
  World world;
  world.ranks = {event};
  return during(world);
}

Scenario during(const LinkEvent& event) {
  World world;
  world.links = {event};
  return during(world);
}

Scenario during(const BackgroundFlow& flow) {
  World world;
  world.flows = {flow};
  return during(world);
}

Scenario with_jobs(int jobs) {
  Scenario scenario = toy::scenario();
  scenario.world.concurrent_jobs = jobs;
  return scenario;
}

/// Every engine's reason why there is no time, which must be the same.
std::string lost(const Scenario& scenario) {
  std::string why;
  for (const Engine* engine : toy::engines_for(scenario)) {
    CAPTURE(engine->name);
    const IterationResult result = run(scenario, *engine);
    CHECK(result.iteration == Seconds{0});
    if (why.empty()) why = result.lost;
    CHECK(result.lost == why);
  }
  return why;
}

std::string refusal(const char* engine, const Scenario& scenario) {
  try {
    run(scenario, *find_engine(engine));
  } catch (const ValueError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

// ---- files ----

TEST_CASE("every kind of event is read", "[world]") {
  const World world = read(
      "speed,rank 1,2s,500ms,50%\n"
      "pause,rank 2,10ms,,\n"
      "bandwidth,node1.nic0,0,1s,25%\n"
      "down,node0.nic0.up,3s,10us,\n"
      "flow,rank 0 > rank 3,1s,2s,4Gbps\n"
      "flow,rank 3 > rank 1,0,,\n");
  REQUIRE(world.ranks.size() == 2);
  CHECK(world.ranks[0].rank == 1);
  CHECK(world.ranks[0].period.at == Seconds{2});
  CHECK(world.ranks[0].period.lasting == Seconds{0.5});
  CHECK(world.ranks[0].speed == 0.5);
  CHECK(world.ranks[1].rank == 2);
  CHECK(world.ranks[1].period.at == Seconds{0.01});
  CHECK_FALSE(world.ranks[1].period.lasting.has_value());  // for ever
  CHECK(world.ranks[1].speed == 0);
  REQUIRE(world.links.size() == 2);
  CHECK(world.links[0].link == "node1.nic0");
  CHECK(world.links[0].share == 0.25);
  CHECK(world.links[1].link == "node0.nic0.up");
  CHECK(world.links[1].share == 0);
  CHECK(world.links[1].period.lasting->count() == Approx(10e-6));
  REQUIRE(world.flows.size() == 2);
  CHECK(world.flows[0].from == 0);
  CHECK(world.flows[0].to == 3);
  CHECK(world.flows[0].most.value == 0.5e9);
  CHECK(world.flows[1].most.value == 0);
  CHECK_FALSE(world.flows[1].period.lasting.has_value());
  CHECK(world.network_disturbed());
}

TEST_CASE("a file of events may lack the columns that nobody needs, and have no row", "[world]") {
  const World world = load_events(
      {"events.csv", "# who was on call\nevent,target,at\npause,rank 0,1s\n"}, four_ranks());
  REQUIRE(world.ranks.size() == 1);
  CHECK_FALSE(world.ranks[0].period.lasting.has_value());
  CHECK_FALSE(read("").network_disturbed());
  CHECK(read("").ranks.empty());
}

TEST_CASE("a bad line of events is told by its place, what it says and what would be right",
          "[world]") {
  struct Bad {
    const char* row;
    const char* complaint;  // after "events.csv:2: "
  };
  const Bad bad[] = {
      {"pauze,rank 0,1s,,",
       "column 'event': unknown event 'pauze'; did you mean 'pause'? (events: speed, pause, "
       "bandwidth, down, flow)"},
      {",rank 0,1s,,",
       "column 'event': unknown event '' (events: speed, pause, bandwidth, down, flow)"},
      {"pause,0,1s,,", "column 'target': '0' is not a rank, like 'rank 3'"},
      {"pause,,1s,,", "column 'target': '' is not a rank, like 'rank 3'"},
      {"pause,rank x,1s,,", "column 'target': 'x' is not a whole number, like '16'"},
      {"pause,rank -1,1s,,", "column 'target': 'rank -1' is not a rank, like 'rank 3'"},
      {"pause,rank 4,1s,,", "column 'target': there is no rank 4: ranks are 0 to 3"},
      {"pause,rank 0,,,", "column 'at': '' is not a number with a unit; write a time like '25us'"},
      {"pause,rank 0,1,,", "column 'at': '1' has no unit; write a time like '25us'"},
      {"pause,rank 0,-1s,,", "column 'at': '-1s' is negative; write a time like '25us'"},
      {"pause,rank 0,nan,,",
       "column 'at': 'nan' is not a number with a unit; write a time like '25us'"},
      {"pause,rank 0,1s,soon,",
       "column 'lasting': 'soon' is not a number with a unit; write a time like '25us'"},
      {"pause,rank 0,1s,,50%", "column 'value': this event has none"},
      {"speed,rank 0,1s,,",
       "column 'value': '' is not a number with a unit; write a share like "
       "'5%'"},
      {"speed,rank 0,1s,,0.5", "column 'value': '0.5' has no unit; write a share like '5%'"},
      {"speed,rank 0,1s,,0%",
       "column 'value': '0%' stops it: that is the event 'pause' of a rank or 'down' of a link"},
      {"bandwidth,,1s,,50%", "column 'target': is empty"},
      {"bandwidth,node0.nic0,1s,,0",
       "column 'value': '0' stops it: that is the event 'pause' of a rank or 'down' of a link"},
      {"bandwidth,node0.nik0,1s,,50%",
       "column 'target': the cluster has no link 'node0.nik0'; did you mean 'node0.nic0'? (its "
       "first is 'node0.nic0.up')"},
      {"down,rank 0,1s,,",
       "column 'target': the cluster has no link 'rank 0' (its first is 'node0.nic0.up')"},
      {"down,node0.nic0,1s,,0%", "column 'value': this event has none"},
      {"flow,rank 0,1s,,", "column 'target': 'rank 0' is not two ranks, like 'rank 0 > rank 5'"},
      {"flow,rank 0 > rank 0,1s,,", "column 'target': a flow goes from one rank to another"},
      {"flow,rank 0 > rank 7,1s,,", "column 'target': there is no rank 7: ranks are 0 to 3"},
      {"flow,rank 0 > rank 1,1s,,50%",
       "column 'value': '50%': '%' is not a unit of bandwidth; write it like '9.43Gbps'"},
      {"pause,rank 0", "fewer fields than the header has columns; is the line cut off?"},
      {"pause,rank 0,1s,,,",
       "more fields than the header has columns; a text with a comma needs "
       "quotes"},
  };
  for (const Bad& each : bad) {
    CAPTURE(each.row);
    try {
      read(std::string(each.row) + "\n");
      FAIL_CHECK("was read");
    } catch (const DataError& error) {
      CHECK(error.what() == std::string("events.csv:2: ") + each.complaint);
    }
  }
  CHECK_THROWS_WITH(load_events({"events.csv", "event,target,when\n"}, four_ranks()),
                    Catch::StartsWith("events.csv:1: unknown column 'when'"));
  CHECK_THROWS_WITH(load_events({"events.csv", "event,target\n"}, four_ranks()),
                    "events.csv:1: the header lacks the column 'at'");
}

TEST_CASE("a world of ranks or links that are not there is refused before anything runs",
          "[world]") {
  for (const char* engine : {"analytic", "simgrid-exact", "simgrid-fluid"}) {
    if (!find_engine(engine)->built()) continue;
    CAPTURE(engine);
    CHECK(refusal(engine, during(RankEvent{2, {}, 0.5})) == "there is no rank 2: ranks are 0 to 1");
    if (std::string(engine) == "analytic") continue;
    CHECK(refusal(engine, during(BackgroundFlow{0, 5, {}, {}})) ==
          "there is no rank 5: ranks are 0 to 1");
    CHECK(refusal(engine, during(LinkEvent{"node0.nik0", {}, 0.5})) ==
          "the cluster has no link 'node0.nik0'; did you mean 'node0.nic0'? (its first is "
          "'node0.nic0.up')");
  }
}

// ---- other jobs and other traffic ----

TEST_CASE("equal jobs on one link each get their part of it", "[world]") {
  CHECK(astray(with_jobs(1), 43) == kNobody);
  CHECK(astray(with_jobs(2), 6 + 12 + 2 * 24 + 1, kPerMille) == kNobody);
  CHECK(astray(with_jobs(3), 6 + 12 + 3 * 24 + 1, kPerMille) == kNobody);
}

// From rank 0 to rank 1, as every other message of the ring. Half a link: 12 kB take 24 ms.
TEST_CASE("another's flow takes half of the link, or what it is limited to", "[world]") {
  CHECK(astray(during(BackgroundFlow{0, 1, {}, {}}), 6 + 12 + 48 + 1, kPerMille) == kNobody);
  // A quarter of the link: 24 kB at 0.75 MB/s
  CHECK(astray(during(BackgroundFlow{0, 1, {}, {0.25e6}}), 6 + 12 + 32 + 1, kPerMille) == kNobody);
  // Limited to more than half: half.
  CHECK(astray(during(BackgroundFlow{0, 1, {}, {0.9e6}}), 6 + 12 + 48 + 1, kPerMille) == kNobody);
  // Two of them leave a third.
  Scenario two = during(BackgroundFlow{0, 1, {}, {}});
  two.world.flows.push_back(two.world.flows[0]);
  CHECK(astray(two, 6 + 12 + 72 + 1, kPerMille) == kNobody);
  // From 30 ms on: one round is done. 12 kB at half.
  CHECK(astray(during(BackgroundFlow{0, 1, {30ms, {}}, {}}), 30 + 24 + 1, kPerMille) == kNobody);
}

// The flow lasts until 30 ms: 6 kB are sent by then, of 24, the other 18 by 48.
TEST_CASE("another's flow is over when its time is", "[world]") {
  CHECK(astray(during(BackgroundFlow{0, 1, {0s, 30ms}, {}}), 49, kPerMille) == kNobody);
  // Lasting for no time at all it is not there.
  CHECK(astray(during(BackgroundFlow{0, 1, {0s, 0s}, {}}), 43) == kNobody);
}

// ---- links ----

// By 24 ms 6 of 24 kB are sent; the other 18 at half: 36 ms. One direction is enough, for a round
// ends when both messages are through.
TEST_CASE("a link at half its bandwidth takes twice as long from then on", "[world]") {
  CHECK(astray(during(LinkEvent{"node0.nic0", {24ms, {}}, 0.5}), 24 + 36 + 1, kPerMille) ==
        kNobody);
  CHECK(astray(during(LinkEvent{"node1.nic0.down", {24ms, {}}, 0.5}), 24 + 36 + 1, kPerMille) ==
        kNobody);
  // For 12 ms: 6 kB instead of 12.
  CHECK(astray(during(LinkEvent{"node0.nic0", {24ms, 12ms}, 0.5}), 43 + 6, kPerMille) == kNobody);
  // Two events at the same time: a quarter.
  Scenario twice = during(LinkEvent{"node0.nic0", {24ms, 12ms}, 0.5});
  twice.world.links.push_back(twice.world.links[0]);
  CHECK(astray(twice, 43 + 9, kPerMille) == kNobody);
  // Above what it was: 24 kB at 2 MB/s, but for the other node's link, which is as it was.
  CHECK(astray(during(LinkEvent{"node0.nic0", {0s, {}}, 2}), 43, kPerMille) == kNobody);
}

// Messages that start while it lasts are as fast as others when it is over: 6 kB by 30 ms, 18 more
// by 48. All links at twice their bandwidth from 24 ms on: 6 kB by then, 18 in 9 ms.
TEST_CASE("a link's bandwidth is what it is now, whenever a message started", "[world]") {
  CHECK(astray(during(LinkEvent{"node0.nic0", {10ms, 20ms}, 0.5}), 49, kPerMille) == kNobody);
  Scenario wider = during(LinkEvent{"node0.nic0", {24ms, {}}, 2});
  wider.world.links.push_back({"node1.nic0", {24ms, {}}, 2});
  CHECK(astray(wider, 24 + 9 + 1, kPerMille) == kNobody);
}

TEST_CASE("what is on a link that goes down waits, and then goes on", "[world]") {
  CHECK(astray(during(LinkEvent{"node0.nic0", {24ms, 10ms}, 0}), 53, kPerMille) == kNobody);
  // Over before anything is sent.
  CHECK(astray(during(LinkEvent{"node0.nic0", {0s, 18ms}, 0}), 43, kPerMille) == kNobody);
  // A thousand seconds, and 80 bytes that would like to slip through.
  Scenario small = during(LinkEvent{"node0.nic0", {0s, 1000s}, 0});
  small.model.tensors = {{"a", "a", 20, 0}};
  small.trace.tensors = {{"a", 1ms, 2ms}};
  CHECK(astray(small, 1e6 + 0.08 + 1, 1e-3) == kNobody);
}

// ---- ranks ----

TEST_CASE("a rank that pauses goes on where it was, and all wait for it", "[world]") {
  CHECK(astray(during(RankEvent{0, {8ms, 10ms}, 0}), 53) == kNobody);  // in backward c
  // A collective goes on without it, 18-42.
  CHECK(astray(during(RankEvent{0, {20ms, 5ms}, 0}), 43) == kNobody);
  CHECK(astray(during(RankEvent{0, {40ms, 10ms}, 0}), 51) == kNobody);  // and then the update
  // It does not come to one: backward ends at 18, the pause at 28.
  CHECK(astray(during(RankEvent{1, {17ms, 11ms}, 0}), 43 + 11) == kNobody);
  // From the start, and twice
  CHECK(astray(during(RankEvent{1, {0s, 4ms}, 0}), 47) == kNobody);
  Scenario twice = during(RankEvent{1, {0s, 4ms}, 0});
  twice.world.ranks.push_back({1, {10ms, 4ms}, 0});
  CHECK(astray(twice, 51) == kNobody);
  // One inside the other is one.
  twice.world.ranks[1] = {1, {1ms, 2ms}, 0};
  CHECK(astray(twice, 47) == kNobody);
}

TEST_CASE("a rank at half its speed takes twice as long meanwhile", "[world]") {
  // 8-12: 2 of 4 ms of work are done.
  CHECK(astray(during(RankEvent{0, {8ms, 4ms}, 0.5}), 45) == kNobody);
  // From 8 on: 10 ms are left of 18, then 1 of update.
  CHECK(astray(during(RankEvent{0, {8ms, {}}, 0.5}), 28 + 24 + 2) == kNobody);
  // Both ranks at once are not slower than one.
  Scenario both = during(RankEvent{0, {8ms, 4ms}, 0.5});
  both.world.ranks.push_back({1, {8ms, 4ms}, 0.5});
  CHECK(astray(both, 45) == kNobody);
  // Twice the speed helps nobody if the other is as slow as ever.
  CHECK(astray(during(RankEvent{0, {0s, {}}, 2}), 43) == kNobody);
}

// A collective begins when all are ready for it, and a rank that pauses does not come: c and b are
// ready on both ranks at 6 and 10; rank 1 pauses 11-41, while c is on its way (6-18). b begins at
// 41 and ends at 49; a, ready on rank 1 at 42, 49-53. Rank 1: a 53 + 1/6 + 1 = 54.1667, b + 1/3 +
// 2, c + 1/2 + 3.
TEST_CASE("a rank that pauses does not come to what it had been ready for either", "[world]") {
  Scenario scenario = during(RankEvent{1, {11ms, 30ms}, 0});
  scenario.fusion = parse_fusion("layer");
  scenario.overlap = true;
  scenario.queue = Queue::Priority;
  CHECK(astray(scenario, 60) == kNobody);
}

// ---- for ever ----

TEST_CASE("a rank that pauses for ever is to blame for what never ends", "[world]") {
  CHECK(lost(during(RankEvent{0, {8ms, {}}, 0})) ==
        "rank 0 never finished 'backward c'; rank 0 pauses for ever from 8ms");
  CHECK(lost(during(RankEvent{1, {8ms, {}}, 0})) ==
        "rank 0 never finished 'ring-all-reduce bucket 0'; rank 1 pauses for ever from 8ms");
  CHECK(astray(during(RankEvent{1, {50ms, {}}, 0}), 43) == kNobody);  // all is done by then
}

TEST_CASE("a link that is down for ever is to blame, however little would pass it", "[world]") {
  Scenario scenario = during(LinkEvent{"node0.nic0", {24ms, {}}, 0});
  if (toy::engines_for(scenario).empty()) return;  // a build without SimGrid
  const std::string why =
      "rank 0 never finished 'ring-all-reduce bucket 0'; link node0.nic0 is down for ever from "
      "24ms";
  CHECK(lost(scenario) == why);
  scenario.model.tensors = {{"a", "a", 20, 0}};  // 80 bytes
  scenario.trace.tensors = {{"a", 10ms, 13.99ms}};
  CHECK(lost(scenario) == why);
  // Nor does other traffic that waits there change anything.
  scenario.world.flows.push_back({0, 1, {}, {}});
  CHECK(lost(scenario) == why);
  // Nothing passes it: no harm.
  CHECK(astray(during(LinkEvent{"node0.nic0", {43ms, {}}, 0}), 43) == kNobody);
}

TEST_CASE("a run that never ends is soon over, whatever else is on the network", "[world]") {
  Scenario scenario = during(RankEvent{0, {8ms, {}}, 0});
  scenario.world.flows.push_back({0, 1, {}, {}});
  scenario.cluster.nic.bandwidth = BytesPerSecond{10e9};
  scenario.cluster.intra.bandwidth = BytesPerSecond{100e9};
  if (toy::engines_for(scenario).empty()) return;  // a build without SimGrid
  CHECK(lost(scenario) == "rank 0 never finished 'backward c'; rank 0 pauses for ever from 8ms");
}

TEST_CASE("the analytic engine says what it does not know", "[world]") {
  CHECK(refusal("analytic", during(LinkEvent{"node0.nic0", {}, 0.5})) ==
        "the analytic engine knows no events of links and no other flows; use --engine simgrid");
  CHECK(refusal("analytic", during(BackgroundFlow{0, 1, {}, {}})) ==
        "the analytic engine knows no events of links and no other flows; use --engine simgrid");
  Scenario scenario = toy::scenario();
  scenario.network_streams = 2;
  CHECK(refusal("analytic", scenario) ==
        "the analytic engine knows no collectives that share the network; use --engine simgrid");
  scenario = toy::scenario();
  scenario.cluster.platform_file = "x.xml";
  CHECK(refusal("analytic", scenario) ==
        "the analytic engine cannot read SimGrid's platform files; use --engine simgrid");
}

// ---- defects of our own ----

namespace {

/// A transport that nobody leaves.
class BlackHole : public Transport {
  void enter(Job&, std::size_t, std::size_t) override {}
};

Plan one_collective() {
  Plan plan;
  plan.rank_speeds.assign(2, 1);
  plan.steps.push_back(
      {StepKind::Collective, "it", {}, 0s, find_collective("ring-all-reduce"), {Bytes{8}}});
  return plan;
}

std::string deadlock(const Plan& plan) {
  EventQueue events;
  BlackHole hole;
  const World world;
  const RankClasses ranks = RankClasses::separate(plan, world);
  Job job(plan, ranks, events, hole);
  job.start();
  events.run();
  try {
    record_of(job, ranks, world);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return {};
}

/// What every engine says of a plan that it refuses as our defect; "" where one does not.
std::string defect(const Plan& plan) {
  std::string said;
  for (const Engine& engine : all_engines()) {
    if (!engine.built()) continue;
    try {
      engine.run(plan, toy::scenario().cluster);
      return {};
    } catch (const std::logic_error& error) {
      said = error.what();
    }
  }
  return said;
}

}  // namespace

TEST_CASE("a collective that nobody leaves is a deadlock, not an answer", "[world]") {
  Plan plan = one_collective();
  CHECK(deadlock(plan) == "deadlock: rank 0 never finished 'it'");
  plan.coordinated = true;
  CHECK(deadlock(plan) == "deadlock: rank 0 never finished 'it'");
}

TEST_CASE("times and speeds that are none are refused by name", "[world]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, -1.0, infinity, 2e6}) {
    Plan plan = make_plan(toy::scenario());
    plan.steps[3].duration = Seconds{bad};
    CAPTURE(bad);
    CHECK_THAT(defect(plan), Catch::StartsWith("step 3 ('backward c') takes ") &&
                                 Catch::EndsWith(" s, which is no time"));
  }
  for (const double bad : {nan, -1.0, 0.0, infinity}) {
    Plan plan = make_plan(toy::scenario());
    plan.rank_speeds[1] = bad;
    CAPTURE(bad);
    CHECK_THAT(defect(plan), Catch::StartsWith("rank 1 computes at ") &&
                                 Catch::EndsWith(" times its speed, which is none"));
  }
  for (const double bad : {nan, -1.0, infinity}) {
    Plan plan = make_plan(toy::scenario());
    plan.encode_slowdown = bad;
    CHECK_THAT(defect(plan), Catch::Contains("lengthened"));
    plan.encode_slowdown = 0;
    plan.communication_slowdown = bad;
    CHECK_THAT(defect(plan), Catch::Contains("lengthened"));
  }
  Plan plan = make_plan(toy::scenario());
  plan.network_streams = 0;
  CHECK_THAT(defect(plan), Catch::Contains("0 network streams"));
}

// Three ranks, two rounds of 2 us. With contributions of 10 kB (1 us at 10 GB/s), 0 and 0: in the
// first round rank 0 has sent after 1 and rank 1 has it at 3; 1 -> 2 and 2 -> 0 are there at 2. In
// the second, rank 0 sends nothing at 2 (at rank 1 at 4), rank 2 nothing at 2 (at rank 0 at 4), and
// rank 1 the 10 kB at 3: sent at 4, at rank 2 at 6.
TEST_CASE("messages of no bytes take their latency", "[world]") {
  Plan plan;
  plan.rank_speeds.assign(3, 1);
  CollectiveLoad load{Bytes{0}};
  plan.steps.push_back(
      {StepKind::Collective, "it", {}, 0s, find_collective("ring-all-gather"), load});
  Cluster cluster;
  cluster.nodes = 3;
  cluster.nic = {BytesPerSecond{10e9}, 2us};
  cluster.intra = {BytesPerSecond{100e9}, 1us};
  for (const Engine& engine : all_engines()) {
    if (!engine.built()) continue;
    CAPTURE(engine.name);
    CHECK(engine.run(plan, cluster).of_rank(0)[0].end.count() == Approx(4e-6).epsilon(1e-9));
  }
  const Engine* exact = find_engine("simgrid-exact");
  if (!exact->built()) return;
  plan.steps[0].load = {.payload = Bytes{10'000},
                        .contributions = {Bytes{10'000}, Bytes{0}, Bytes{0}}};
  const RunRecord record = exact->run(plan, cluster);
  CHECK(record.of_rank(0)[0].end.count() == Approx(4e-6).epsilon(1e-9));
  CHECK(record.of_rank(2)[0].end.count() == Approx(6e-6).epsilon(1e-9));
}
