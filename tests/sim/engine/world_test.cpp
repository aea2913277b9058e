// Events around a job, and their effect on the toy, in closed form.
//
// The toy, dense and merged, in ms: forward 0-6, backward 6-18 (c until 12, b 16, a 18), 24 of
// communication (two rounds of 12 kB at 1 MB/s) 18-42, update 42-43.
#include <catch2/catch.hpp>
#include <string>

#include "sim/base/error.hpp"
#include "tests/sim/engine/every_engine.hpp"

using namespace gradcast;
using namespace std::chrono_literals;
using toy::astray;
using toy::kNobody;

namespace {

constexpr double kPerMille = 0.043;  // a thousandth of the toy's 43 ms

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
  small.model.change().tensors = {{"a", "a", 20, 0}};
  small.trace.change().tensors = {{"a", 1ms, 2ms}};
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
  scenario.model.change().tensors = {{"a", "a", 20, 0}};  // 80 bytes
  scenario.trace.change().tensors = {{"a", 10ms, 13.99ms}};
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

// ---- what is refused ----

TEST_CASE("a world of ranks or links that are not there is refused before anything runs",
          "[world]") {
  for (const char* engine :
       {"analytic", "flow-exact", "flow-fluid", "simgrid-exact", "simgrid-fluid"}) {
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

TEST_CASE("the analytic engine says what it does not know", "[world]") {
  CHECK(refusal("analytic", during(LinkEvent{"node0.nic0", {}, 0.5})) ==
        "the analytic engine knows no events of links and no other flows; use --engine flow");
  CHECK(refusal("analytic", during(BackgroundFlow{0, 1, {}, {}})) ==
        "the analytic engine knows no events of links and no other flows; use --engine flow");
  Scenario scenario = toy::scenario();
  scenario.cluster.platform_file = "x.xml";
  CHECK(refusal("analytic", scenario) ==
        "the analytic engine cannot read SimGrid's platform files; use --engine simgrid");
}
