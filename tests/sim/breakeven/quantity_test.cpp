#include "sim/breakeven/quantity.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;
using Catch::Contains;

TEST_CASE("a quantity has a name, and values that read back", "[breakeven]") {
  for (const Quantity quantity :
       {Quantity::NicBandwidth, Quantity::Nodes, Quantity::Density, Quantity::KernelCost}) {
    CHECK(parse_quantity(to_text(quantity)) == quantity);
    const LookedAt range = usual_range(quantity);
    CHECK(range.from < range.to);
    for (const double value : {range.from, range.to})
      CHECK(parse_value(quantity, value_text(quantity, value)) == Approx(value).epsilon(1e-12));
  }
  CHECK(value_text(Quantity::NicBandwidth, 38.2149e9) == "38.21Gbps");
  CHECK(value_text(Quantity::Nodes, 12345) == "12345");
  CHECK(value_text(Quantity::Density, 0.00212349) == "0.002123");
  CHECK(parse_value(Quantity::NicBandwidth, "25Gbps") == 25e9);
  CHECK_THROWS_WITH(parse_quantity("bandwidth"), Contains("cannot be varied"));
  CHECK_THROWS_WITH(parse_quantity("node"), Contains("did you mean 'nodes'?"));
  CHECK_THROWS_AS(parse_value(Quantity::NicBandwidth, "25"), ValueError);
  CHECK_THROWS_AS(parse_value(Quantity::Nodes, "2.5"), ValueError);
  CHECK_THROWS_AS(parse_value(Quantity::Density, "2"), ValueError);
  CHECK_THROWS_AS(parse_value(Quantity::KernelCost, "-1"), ValueError);
}

// Bucket of 6000 elements at 1 and 0.5 us an element: 6 and 3 ms, times what is set.
TEST_CASE("a value is given to a run", "[breakeven]") {
  Scenario scenario = toy::scenario("topk");
  set_value(scenario, Quantity::KernelCost, 2.5);
  const IterationResult result = run(scenario, *find_engine("analytic"));
  CHECK(result.encode.count() == Approx(2.5 * 6e-3));
  CHECK(result.decode.count() == Approx(2.5 * 3e-3));
  set_value(scenario, Quantity::NicBandwidth, 16e6);
  CHECK(scenario.cluster.nic.bandwidth.value == Approx(2e6));
  CHECK(own_value(Quantity::NicBandwidth, scenario) == Approx(16e6));
  set_value(scenario, Quantity::Nodes, 5);
  CHECK(scenario.cluster.ranks() == 5);
  CHECK(own_value(Quantity::Nodes, scenario) == 5);
  set_value(scenario, Quantity::Density, 0.02);
  CHECK(own_value(Quantity::Density, scenario) == 0.02);
  CHECK_THROWS_AS(set_value(scenario, Quantity::Nodes, 70'000), ValueError);
}
