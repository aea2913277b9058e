// Plans and transports that only a defect of our own makes: an engine names them, and answers
// nothing.
#include <catch2/catch.hpp>
#include <limits>
#include <stdexcept>
#include <string>

#include "sim/base/error.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/playback/outcome.hpp"
#include "sim/plan/plan_check.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

/// A transport that nobody leaves.
class BlackHole : public MessageTransport {
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

/// The error that every engine throws for a plan, as our defect; "" if one accepts the plan.
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

TEST_CASE("a collective that nobody leaves is a deadlock, not an answer", "[defect]") {
  Plan plan = one_collective();
  CHECK(deadlock(plan) == "deadlock: rank 0 never finished 'it'");
  plan.coordinated = true;
  CHECK(deadlock(plan) == "deadlock: rank 0 never finished 'it'");
}

// A large batch makes such a step of a slow trace: the typed value is wrong, and it is no defect of
// ours.
TEST_CASE("a step of more than the longest time is refused as a value, not as a defect",
          "[defect]") {
  Plan plan = make_plan(toy::scenario());
  plan.steps[3].duration = Seconds{2e6};
  CHECK_THROWS_AS(require_ordered(plan), ValueError);
  CHECK_THROWS_WITH(require_ordered(plan),
                    "'backward c' would take 2000000 s; the longest that is "
                    "simulated is 1000000 s");
}

TEST_CASE("times and speeds that are none are refused by name", "[defect]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, -1.0, infinity}) {
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
  Scenario scenario = toy::scenario();
  scenario.fusion = parse_fusion("cycle:5ms,64MiB");
  plan = make_plan(scenario);
  REQUIRE(plan.steps[6].kind == StepKind::Wait);
  plan.steps[6].duration = Seconds{0};
  CHECK_THAT(defect(plan), Catch::Contains("('cycle of bucket 0') waits for no cycle"));
  plan = make_plan(scenario);
  plan.clock = 6;
  CHECK_THAT(defect(plan), Catch::Contains("waits for no cycle"));
}
