#include "sim/timeline/timeline.hpp"

#include <catch2/catch.hpp>

#include "sim/engine/iteration_result.hpp"
#include "tests/sim/engine/every_engine.hpp"

using namespace gradcast;

namespace {

constexpr Nanoseconds kMs = 1'000'000;

Timeline timeline_of(const Scenario& scenario) {
  const Plan plan = make_plan(scenario);
  return make_timeline(plan, find_engine("analytic")->run(plan, scenario.cluster));
}

std::vector<Span> spans_of(const TimelineLane& lane, SlicePart part) {
  std::vector<Span> spans;
  for (const TimelineSlice& slice : lane.slices)
    if (slice.part == part) spans.push_back(slice.span);
  return spans;
}

PlanStep step(StepKind kind, const std::string& name) {
  PlanStep its;
  its.kind = kind;
  its.name = name;
  return its;
}

/// Backward is over at 12, 16 and 18 ms, layer by layer; collectives take 12, 8 and 4 ms.
Scenario overlapping() {
  Scenario scenario = toy::scenario();
  scenario.fusion = parse_fusion("layer");
  scenario.overlap = true;
  return scenario;
}

}  // namespace

TEST_CASE("a rank has a lane for computing and one for the network") {
  const Timeline timeline = timeline_of(overlapping());
  REQUIRE(timeline.classes.size() == 1);  // both ranks do the same
  CHECK(timeline.class_of == std::vector<std::size_t>{0, 0});
  const auto& lanes = timeline.classes[0].lanes;
  REQUIRE(lanes.size() == 2);
  CHECK(lanes[0].name == "compute");
  CHECK(lanes[1].name == "network");
  const std::vector<Span> computing = spans_of(lanes[0], SlicePart::Step);
  CHECK(computing == std::vector<Span>{{0 * kMs, 1 * kMs},
                                       {1 * kMs, 3 * kMs},
                                       {3 * kMs, 6 * kMs},
                                       {6 * kMs, 12 * kMs},
                                       {12 * kMs, 16 * kMs},
                                       {16 * kMs, 18 * kMs},
                                       {36 * kMs, 37 * kMs}});
  CHECK(spans_of(lanes[1], SlicePart::Step) ==
        std::vector<Span>{{12 * kMs, 24 * kMs}, {24 * kMs, 32 * kMs}, {32 * kMs, 36 * kMs}});
  CHECK(spans_of(lanes[1], SlicePart::Active) == spans_of(lanes[1], SlicePart::Step));
  CHECK(spans_of(lanes[1], SlicePart::Wait).empty());
  // Backward goes on until 18 ms.
  CHECK(spans_of(lanes[1], SlicePart::Exposed) ==
        std::vector<Span>{{18 * kMs, 24 * kMs}, {24 * kMs, 32 * kMs}, {32 * kMs, 36 * kMs}});
}

TEST_CASE("an arrow leads from the backward step that filled a bucket to its collective") {
  const Timeline timeline = timeline_of(overlapping());
  const TimelineClass& its = timeline.classes[0];
  REQUIRE(its.arrows.size() == 3);
  CHECK(its.steps[its.arrows[0].from_step] == Span{6 * kMs, 12 * kMs});
  CHECK(its.steps[its.arrows[0].to_step] == Span{12 * kMs, 24 * kMs});
  CHECK(its.arrows[0].from_lane == 0);
  CHECK(its.arrows[0].to_lane == 1);
  CHECK(its.steps[its.arrows[2].from_step] == Span{16 * kMs, 18 * kMs});
  CHECK(its.steps[its.arrows[2].to_step] == Span{32 * kMs, 36 * kMs});
}

// The second rank computes half as fast: 36 ms, of which the first has to wait 18.
TEST_CASE("a collective is waiting for other ranks, and then active") {
  Scenario scenario = toy::scenario();
  scenario.rank_speeds = {1, 0.5};
  const Timeline timeline = timeline_of(scenario);
  REQUIRE(timeline.classes.size() == 2);
  const TimelineLane& fast = timeline.classes[0].lanes[1];
  CHECK(spans_of(fast, SlicePart::Step) == std::vector<Span>{{18 * kMs, 60 * kMs}});
  CHECK(spans_of(fast, SlicePart::Wait) == std::vector<Span>{{18 * kMs, 36 * kMs}});
  CHECK(spans_of(fast, SlicePart::Active) == std::vector<Span>{{36 * kMs, 60 * kMs}});
  const TimelineLane& slow = timeline.classes[1].lanes[1];
  CHECK(spans_of(slow, SlicePart::Wait).empty());
  CHECK(spans_of(slow, SlicePart::Active) == std::vector<Span>{{36 * kMs, 60 * kMs}});
}

TEST_CASE("collectives at the same time have a network lane each") {
  Plan plan;
  plan.rank_speeds = {1, 1};
  plan.network_streams = 2;
  RunRecord record;
  record.steps.emplace_back();
  for (const auto& [start, end] : {std::pair{0, 5}, {2, 7}, {5, 6}, {7, 9}}) {
    plan.steps.push_back(step(StepKind::Collective, "c" + std::to_string(start)));
    record.steps[0].push_back({Seconds{start * 1e-3}, Seconds{end * 1e-3}});
  }
  record.class_of = {0, 0};
  const Timeline timeline = make_timeline(plan, record);
  const auto& lanes = timeline.classes[0].lanes;
  REQUIRE(lanes.size() == 3);
  CHECK(lanes[0].slices.empty());
  CHECK(lanes[1].name == "network 1");
  CHECK(lanes[2].name == "network 2");
  CHECK(spans_of(lanes[1], SlicePart::Step) ==
        std::vector<Span>{{0 * kMs, 5 * kMs}, {5 * kMs, 6 * kMs}, {7 * kMs, 9 * kMs}});
  CHECK(spans_of(lanes[2], SlicePart::Step) == std::vector<Span>{{2 * kMs, 7 * kMs}});
}

// Cycles of 20 ms begin with backward, at 6. c waits for the first from 12 on, b from 16, a
// from 18.
TEST_CASE("waiting for a cycle has a lane of its own, once for all its buckets") {
  Scenario scenario = overlapping();
  scenario.fusion = parse_fusion("cycle:20ms,10kB");
  const Timeline timeline = timeline_of(scenario);
  const TimelineClass& its = timeline.classes[0];
  REQUIRE(its.lanes.size() == 3);
  CHECK(its.lanes[1].name == "cycle");
  CHECK(spans_of(its.lanes[1], SlicePart::Step) == std::vector<Span>{{12 * kMs, 26 * kMs}});
  CHECK(spans_of(its.lanes[2], SlicePart::Step) ==
        std::vector<Span>{{26 * kMs, 38 * kMs}, {38 * kMs, 46 * kMs}, {46 * kMs, 50 * kMs}});
  CHECK(spans_of(its.lanes[2], SlicePart::Exposed) == spans_of(its.lanes[2], SlicePart::Step));
  REQUIRE(its.arrows.size() == 3);
  CHECK(its.arrows[2].from_lane == 1);
  CHECK(its.steps[its.arrows[2].from_step] == Span{18 * kMs, 26 * kMs});
}

TEST_CASE("what compresses on the side stream has a lane of its own") {
  Scenario scenario = toy::scenario("topk");
  scenario.encode_stream = EncodeStream::Side;
  const Timeline timeline = timeline_of(scenario);
  const auto& lanes = timeline.classes[0].lanes;
  REQUIRE(lanes.size() == 3);
  CHECK(lanes[1].name == "codec");
  // Encode takes 6 ms for 6000 elements after 18 ms of forward and backward.
  REQUIRE(lanes[1].slices.size() == 2);
  CHECK(lanes[1].slices[0].span == Span{18 * kMs, 24 * kMs});
}

TEST_CASE("steps without length are no slices") {
  Plan plan;
  plan.rank_speeds = {1};
  plan.steps = {step(StepKind::Forward, "a"), step(StepKind::Forward, "b")};
  RunRecord record;
  record.steps = {{{Seconds{0}, Seconds{0}}, {Seconds{0}, Seconds{2e-3}}}};
  const Timeline timeline = make_timeline(plan, record);
  REQUIRE(timeline.classes[0].lanes.size() == 1);
  CHECK(spans_of(timeline.classes[0].lanes[0], SlicePart::Step) == std::vector<Span>{{0, 2 * kMs}});
}

TEST_CASE("a record whose steps overlap on a lane is a defect, not a timeline") {
  Plan plan;
  plan.rank_speeds = {1};
  plan.steps = {step(StepKind::Forward, "a"), step(StepKind::Forward, "b")};
  RunRecord record;
  record.steps = {{{Seconds{0}, Seconds{2e-3}}, {Seconds{1e-3}, Seconds{3e-3}}}};
  CHECK_THROWS_WITH(make_timeline(plan, record),
                    "on lane 'compute' 'b' begins inside 'a' and "
                    "ends after it");
  record.lost = "rank 0 never finished 'b'";
  CHECK_THROWS_AS(make_timeline(plan, record), std::logic_error);
}
