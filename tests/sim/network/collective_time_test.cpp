// The parts of a collective's time: adding up, bandwidth that jobs share, latency, and waiting.
#include "sim/network/collective_time.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/network/one_switch.hpp"

using namespace gradcast;
using namespace gradcast::one_switch;
using namespace std::chrono_literals;

// A ring of 4 with 4 kB: 6 rounds of 1 kB, which takes 1 us at 1 GB/s, and 2 us of latency. In the
// first 3 each rank adds 1 kB at 2 GB/s: 0.5 us.
TEST_CASE("adding up takes its time in the rounds that reduce", "[collective_time]") {
  const Topology star = cluster(4, 1, kInside, {1e9, 2e-6});
  const std::vector<Phase> phases =
      find_collective("ring-all-reduce")->phases(even_layout(4, 1), {.payload = {4000}});
  CHECK(collective_time(phases, star, {.reduction_bandwidth = {2e9}}).count() ==
        Approx(3 * 3.5e-6 + 3 * 3e-6).epsilon(1e-12));
  CHECK(collective_time(phases, star, {.per_collective = 5us}).count() ==
        Approx(5e-6 + 6 * 3e-6).epsilon(1e-12));
}

// Twice as many bytes on each link, and latency as before: 6 * (2 + 2) us.
TEST_CASE("equal jobs share bandwidth, not latency", "[collective_time]") {
  const Topology star = cluster(4, 1, kInside, {1e9, 2e-6});
  const std::vector<Phase> phases =
      find_collective("ring-all-reduce")->phases(even_layout(4, 1), {.payload = {4000}});
  CHECK(collective_time(phases, star, {.per_collective = 5us}, 2).count() ==
        Approx(5e-6 + 6 * 4e-6).epsilon(1e-12));
}

// 4 nodes of 4: 30 rounds of 1/16 of 16 MB, all over the same NICs at 1.2 GB/s.
TEST_CASE("what flows on the busiest link is told apart from latency", "[collective_time]") {
  const std::vector<Phase> phases =
      find_collective("ring-all-reduce")->phases(even_layout(4, 4), {.payload = {16'000'000}});
  REQUIRE(phases.size() == 1);
  for (const bool alike : {true, false}) {
    Topology topology = cluster(4, 4);
    topology.nodes_alike = alike;
    const CollectiveCourse course = collective_course(phases, topology, kNone);
    CHECK(course.flowing.at(0).count() == Approx(30 * 1e6 / 1.2e9).epsilon(1e-12));
    CHECK(course.total > course.flowing.at(0));
  }
}

// 1 ms from rank 0 to 1, and in the next phase 1 ms from rank 2 to 3, which have not waited.
TEST_CASE("ranks go on to the next phase when they are done, not when all are",
          "[collective_time]") {
  const Topology star = cluster(4, 1, kInside, {1e9, 0});
  Phase first{.messages = {{0, 1, {1'000'000}}}};
  Phase second{.messages = {{2, 3, {1'000'000}}}};
  CHECK(collective_time({first, second}, star, kNone).count() == Approx(1e-3).epsilon(1e-12));
  second.lockstep = true;
  CHECK(collective_time({first, second}, star, kNone).count() == Approx(2e-3).epsilon(1e-12));
}

// 1 ms from rank 0, which is ready 3 ms before rank 1. By rendezvous it waits for rank 1 and then
// keeps rank 0 for that 1 ms; rank 2, which takes no part, stays 3 ms ahead of rank 1.
TEST_CASE("by rendezvous a message leaves when its receiver is ready", "[collective_time]") {
  const Topology star = cluster(3, 1, kInside, {1e9, 0.5e-3});
  Phase phase{.messages = {{0, 1, {1'000'000}}}};
  const std::vector<double> leads{3e-3, 0, 3e-3};
  const auto course = [&] { return collective_course({phase}, star, kNone, 1, leads); };
  CHECK(course().total.count() == Approx(0).margin(1e-12));  // it came while rank 1 was busy
  phase.rendezvous = true;
  CHECK(course().total.count() == Approx(1.5e-3).epsilon(1e-12));
  CHECK(course().lead_seconds[0] == Approx(0.5e-3).epsilon(1e-12));
  CHECK(course().lead_seconds[2] == Approx(4.5e-3).epsilon(1e-12));
}
