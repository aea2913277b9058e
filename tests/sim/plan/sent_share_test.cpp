// The counts that a training really sent, in the plan.
#include <catch2/catch.hpp>

#include "sim/plan/plan.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

// k is 1 % of 6000 elements; a pair has 8 bytes.
TEST_CASE("counts at half of k halve what travels, and nothing that is computed", "[plan]") {
  Scenario scenario = toy::scenario("topk");
  scenario.fusion = parse_fusion("merged");
  const Plan all = make_plan(scenario);
  scenario.sent_share = 0.5;
  const Plan half = make_plan(scenario);
  CHECK(all.buckets[0].selected == 60);
  CHECK(half.buckets[0].selected == 30);
  CHECK(all.buckets[0].payload == Bytes{480});
  CHECK(half.buckets[0].payload == Bytes{240});
  CHECK(half.buckets[0].cost.encode == all.buckets[0].cost.encode);
  scenario.sent_share = 1;
  CHECK(make_plan(scenario).buckets[0].payload == all.buckets[0].payload);
}

// Layers of 1000, 2000 and 3000 elements: k is 10, 20 and 30, and a tenth of that is sent.
TEST_CASE("each bucket sends its share of its own k", "[plan]") {
  Scenario scenario = toy::scenario("topk");
  scenario.fusion = parse_fusion("layer");
  scenario.sent_share = 0.1;
  const Plan plan = make_plan(scenario);
  REQUIRE(plan.buckets.size() == 3);  // as backward fills them
  CHECK(plan.buckets[0].selected == 3);
  CHECK(plan.buckets[1].selected == 2);
  CHECK(plan.buckets[2].selected == 1);
  scenario.sent_share = 0;
  CHECK(make_plan(scenario).buckets[2].selected == 1);  // a set is never empty
}
