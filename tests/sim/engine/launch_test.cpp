// The times of the toy's steps if the host launches them late, on every engine, as computed by
// hand. The toy's times are in toy_schedule.hpp.
#include <catch2/catch.hpp>

#include "tests/sim/engine/toy_schedule.hpp"

using namespace gradcast;
using namespace gradcast::toy;

namespace {

Seconds milli(double time) { return Seconds{time * kMilli}; }

/// Launched: forward a 0, b 2, c 4; backward c 10, b 20, a 30; update 40; the next iteration 50.
Scenario launched(Scenario scenario) {
  const double forward[] = {0, 2, 4};
  const double backward[] = {30, 20, 10};
  for (std::size_t i = 0; i < 3; ++i) {
    scenario.trace.change().tensors[i].forward_launch = milli(forward[i]);
    scenario.trace.change().tensors[i].backward_launch = milli(backward[i]);
  }
  scenario.trace.change().update_launch = milli(40);
  scenario.trace.change().host = milli(50);
  return scenario;
}

}  // namespace

// Forward a 0-1, b 2-4, c 4-7; backward c 10-16, b 20-24, a 30-32; all-reduces c 16-28, b 28-36,
// a 36-40; update 40-41; the next launch at 50.
TEST_CASE("no step begins before the host has launched it", "[schedule]") {
  CHECK(astray(launched(wait_free()), 50) == kNobody);
  CHECK(astray(launched(wait_free()), &IterationResult::forward, 6) == kNobody);
  CHECK(astray(launched(wait_free()), &IterationResult::backward, 12) == kNobody);
  Scenario no_floor = launched(wait_free());
  no_floor.trace.change().host = Seconds{0};
  CHECK(astray(no_floor, 41) == kNobody);
}

// Ten times as slow a network: c 16-136, b 136-216, a 216-256; update -257.
TEST_CASE("where the network is slower than the host, the host costs little", "[schedule]") {
  Scenario slow = launched(wait_free());
  slow.cluster.nic.bandwidth = BytesPerSecond{1e5};
  CHECK(astray(slow, 257) == kNobody);
}

// The plan begins with backward c, launched at 10: c 0-6, b 10-14, a 20-22; all-reduces c 6-18,
// b 18-26, a 26-30. Then updates, which wait for no launch of their own, and layers, which the host
// launches 50 - 10 = 40 after their dates: update a 1/6, forward a 40-41; update b 1/3, forward b
// 42-44; update c 44-44.5, forward c -47.5.
TEST_CASE("a plan that begins with backward has the launches from there on", "[schedule]") {
  CHECK(astray(launched(wait_free("dense", Queue::Priority)), 47.5) == kNobody);
}

// Micro-steps are launched one after another, 30 ms each: the second's backward a at 60, its update
// at 70, the next iteration at 80. Its all-reduces: c 46-58, b 58-66, a 66-70; update 70-71.
TEST_CASE("micro-steps are launched one after another", "[schedule]") {
  Scenario twice = launched(wait_free());
  twice.accumulation = 2;
  CHECK(astray(twice, 80) == kNobody);
}

TEST_CASE("one GPU alone waits for its host too", "[schedule]") {
  CHECK(alone(launched(wait_free())).count() == Approx(50e-3));
}

// Ready since backward began, at 10: c 6, b 14, a 22. Cycles of 10 take c at 10, b at 20, a at 30.
TEST_CASE("cycles take gradients when late launches have made them ready", "[schedule]") {
  Scenario cycles = launched(toy_with("dense", "cycle:10ms,64MiB", true));
  CHECK(make_plan(cycles).buckets.size() == 3);
  // Without launches ready at 6, 10, 12: c and b in the first cycle.
  CHECK(make_plan(toy_with("dense", "cycle:10ms,64MiB", true)).buckets.size() == 2);
}
