// Observations of a run besides its times: the load of links, and a Paje trace.
#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/sim/engine/every_engine.hpp"

using namespace gradcast;

// A ring of two sends 24,000 / 2 bytes twice: 24 ms at 1 MB/s, from the end of backward, at 18 ms,
// on.
TEST_CASE("the links of a run carry its bytes, and observing them changes no time") {
  const Scenario scenario = toy::scenario();
  const Plan plan = make_plan(scenario);
  for (const Engine* engine : toy::engines_for(scenario)) {
    CAPTURE(engine->name);
    const RunRecord seen = engine->run(plan, scenario.cluster, {}, {.links = true});
    const RunRecord unseen = engine->run(plan, scenario.cluster);
    CHECK(unseen.links.empty());
    CHECK(seen.of_rank(0).back().end == unseen.of_rank(0).back().end);
    if (engine->name == "analytic") {
      CHECK(seen.links.empty());
      continue;
    }
    const auto nic = std::find_if(seen.links.begin(), seen.links.end(), [](const LinkLoad& link) {
      return link.name == "node0.nic0.up";
    });
    REQUIRE(nic != seen.links.end());
    REQUIRE(nic->changes.size() == 2);
    CHECK(nic->changes[0].at.count() == Approx(18e-3));
    CHECK(nic->changes[0].rate.value == Approx(1e6));
    CHECK(nic->changes[1].at.count() == Approx(42e-3));
    CHECK(nic->changes[1].rate.value == 0);
  }
}

TEST_CASE("only SimGrid writes Paje traces, and flow hands them to it") {
  const Scenario scenario = toy::scenario();
  const Observation paje{.links = false, .paje = "trace.paje"};
  CHECK_THROWS_WITH(find_engine("flow-exact")->run(make_plan(scenario), scenario.cluster, {}, paje),
                    Catch::Contains("--engine simgrid"));
  if (find_engine("simgrid")->built()) return;
  CHECK_THROWS_AS(find_engine("flow")->run(make_plan(scenario), scenario.cluster, {}, paje),
                  MissingError);
}

TEST_CASE("the closed form writes no Paje trace, and says so") {
  const Scenario scenario = toy::scenario();
  CHECK_THROWS_WITH(
      find_engine("analytic")
          ->run(make_plan(scenario), scenario.cluster, {}, {.links = false, .paje = "trace.paje"}),
      Catch::Contains("--engine simgrid"));
}
