#include "sim/forecast/suspects.hpp"

#include <catch2/catch.hpp>

#include "sim/engine/iteration_result.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;
using Catch::Contains;

// The toy, merged: 6 + 12 + 24 + 1 = 43 ms with one collective. A measurement of 45.5 ms asks
// for 2.5 ms of negotiation, or for a NIC that needs 26.5 ms for what 1 MB/s carries in 24: 0.906
// MB/s, in two digits 0.91, 7.28 Mbit/s. Backward is over before the collective begins, so that no
// slowdown of it explains anything.
TEST_CASE("a suspect's value makes the forecast the measurement", "[suspects]") {
  const Scenario scenario = toy::scenario();
  const auto suspects = suspects_of(scenario, Seconds{45.5e-3});
  REQUIRE(suspects.size() == 2);
  CHECK(to_text(suspects) == "per_tensor_negotiation 2.5ms or nic_bandwidth 7.28Mbps");
}

// Layer by layer the collectives are three, each of which is negotiated; the network is busy from
// 12 ms on: 12 + 3 n + 24 + 1 = 40 ms with n = 1 ms.
TEST_CASE("a negotiation is each collective's", "[suspects]") {
  Scenario scenario = toy::scenario();
  scenario.fusion = parse_fusion("layer");
  scenario.overlap = true;
  CHECK_THAT(to_text(suspects_of(scenario, Seconds{40e-3})),
             Contains("per_tensor_negotiation 1ms"));
}

TEST_CASE("what is not too fast, or far beyond what is likely, has no suspects", "[suspects]") {
  CHECK(suspects_of(toy::scenario(), Seconds{43e-3 - 1e-9}).empty());
  CHECK(suspects_of(toy::scenario(), Seconds{10}).empty());
  CHECK(to_text(std::vector<Suspect>{}).empty());
}
