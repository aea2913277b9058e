// Corrections of the cost table by a fit, in the plan.
#include <catch2/catch.hpp>

#include "sim/plan/plan.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

/// Ten times the table, 7 ms a call and 2 us an element; decoding at half of the table.
Scenario corrected(const char* fusion) {
  Scenario scenario = toy::scenario("topk");
  scenario.fusion = parse_fusion(fusion);
  scenario.codec = {.encode_factor = 10,
                    .decode_factor = 0.5,
                    .per_call = Seconds{7e-3},
                    .per_element = Seconds{2e-6}};
  return scenario;
}

}  // namespace

// The toy's table: encode 1 us an element, decode 0.5 us.
TEST_CASE("a merged bucket is encoded in one call", "[plan]") {
  const Plan plan = make_plan(corrected("merged"));
  REQUIRE(plan.buckets.size() == 1);
  CHECK(plan.buckets[0].cost.calls == 1);
  // 10 x 6 ms + 1 x 7 ms + 6000 x 2 us
  CHECK(plan.buckets[0].cost.encode.count() == Approx(79e-3));
  CHECK(plan.buckets[0].cost.decode.count() == Approx(1.5e-3));
}

TEST_CASE("each bucket pays its own call and elements", "[plan]") {
  const Plan plan = make_plan(corrected("layer"));
  REQUIRE(plan.buckets.size() == 3);
  // c, b, a as backward fills them: 10 x 3 + 7 + 6, 10 x 2 + 7 + 4, 10 x 1 + 7 + 2 ms.
  CHECK(plan.buckets[0].cost.encode.count() == Approx(43e-3));
  CHECK(plan.buckets[1].cost.encode.count() == Approx(31e-3));
  CHECK(plan.buckets[2].cost.encode.count() == Approx(19e-3));
}

TEST_CASE("a bucket whose tensors are compressed one by one pays a call for each", "[plan]") {
  Scenario scenario = corrected("merged");
  scenario.selection = SelectionScope::PerTensor;
  const Plan plan = make_plan(scenario);
  REQUIRE(plan.buckets.size() == 1);
  CHECK(plan.buckets[0].cost.calls == 3);
  // 10 x 6 ms + 3 x 7 ms + 6000 x 2 us
  CHECK(plan.buckets[0].cost.encode.count() == Approx(93e-3));
}

TEST_CASE("a tensor costs the framework time beside its call, a rank's set beside its bytes",
          "[plan]") {
  Scenario scenario = corrected("merged");
  scenario.codec = {.per_tensor = Seconds{1e-3},
                    .decode_per_call = Seconds{5e-3},
                    .decode_per_tensor = Seconds{2e-3},
                    .decode_per_rank = Seconds{3e-3}};
  const Plan plan = make_plan(scenario);
  const int ranks = scenario.cluster.ranks();
  // 6 ms + 3 tensors x 1 ms; 3 ms + 1 x 5 ms + 3 x 2 ms + 1 call x ranks x 3 ms
  CHECK(plan.buckets[0].cost.encode.count() == Approx(9e-3));
  CHECK(plan.buckets[0].cost.decode.count() == Approx(14e-3 + ranks * 3e-3));
}

TEST_CASE("gathered bytes go through the host's memory before they are there", "[plan]") {
  Scenario scenario = corrected("merged");
  const auto delay = [](const Scenario& of) {
    for (const PlanStep& step : make_plan(of).steps)
      if (step.kind == StepKind::Collective) return step.duration.count();
    return -1.0;
  };
  CHECK(delay(scenario) == 0);
  scenario.cluster.staging_bandwidth = {1e6};
  // Each rank's payload comes to each host: so many bytes at 1 us a byte.
  const Bytes payload = make_plan(scenario).buckets[0].payload;
  CHECK(delay(scenario) ==
        Approx(1e-6 * static_cast<double>(payload.count * scenario.cluster.ranks())));
  Scenario dense = toy::scenario("dense");
  dense.cluster.staging_bandwidth = {1e6};
  CHECK(delay(dense) == 0);
}

TEST_CASE("what is sent heeds no correction", "[plan]") {
  Scenario plain = corrected("merged");
  plain.codec = {};
  CHECK(make_plan(corrected("merged")).buckets[0].payload == make_plan(plain).buckets[0].payload);
}
