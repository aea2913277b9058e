// Links that change under what is on them. The toy, dense and merged: ready at 18 ms, 24 ms on its
// NICs, update 1 ms.
#include <catch2/catch.hpp>

#include "sim/engine/iteration_result.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

constexpr Seconds kMs{toy::kMilli};

/// Runs the body with every engine that simulates links.
template <class Body>
void on_networks(Body body) {
  for (const char* name : {"flow-exact", "flow-fluid", "simgrid-exact", "simgrid-fluid"})
    if (const Engine& engine = *find_engine(name); engine.built()) DYNAMIC_SECTION(name) {
        body(engine);
      }
}

double milliseconds(const Engine& engine, const Scenario& scenario) {
  const IterationResult result = run(scenario, engine);
  CHECK(result.lost == "");
  return result.iteration / kMs;
}

Scenario with_link(std::string link, Period period, double share) {
  Scenario scenario = toy::scenario();
  scenario.world.links.push_back({std::move(link), period, share});
  return scenario;
}

Scenario with_both_nics(Period period, double share) {
  Scenario scenario = with_link("node0.nic0", period, share);
  scenario.world.links.push_back({"node1.nic0", period, share});
  return scenario;
}

}  // namespace

TEST_CASE("what starts while a link is down goes on as fast as ever when it is up again",
          "[world]") {
  on_networks([](const Engine& engine) {
    // Down when it starts: 10 s, then 24 + 1 ms.
    CHECK(milliseconds(engine, with_link("node1.nic0", {Seconds{0}, Seconds{10}}, 0)) ==
          Approx(10'025).epsilon(1e-9));
    // It has started, and waits for 10 s: 43 ms and these.
    CHECK(milliseconds(engine, with_link("node1.nic0.up", {19 * kMs, Seconds{10}}, 0)) ==
          Approx(10'043).epsilon(1e-9));
  });
}

TEST_CASE("what starts on a slow link is faster when the link is", "[world]") {
  on_networks([](const Engine& engine) {
    // At a tenth until 118 ms: 10 of 24 ms are done by then. 118 + 14 + 1.
    CHECK(milliseconds(engine, with_both_nics({Seconds{0}, 118 * kMs}, 0.1)) ==
          Approx(133).epsilon(1e-9));
    // Twice as fast from 30 ms on: 12 ms take 6.
    CHECK(milliseconds(engine, with_both_nics({30 * kMs, {}}, 2)) == Approx(37).epsilon(1e-9));
  });
}

TEST_CASE("not a byte passes a link that is down for ever", "[world]") {
  on_networks([](const Engine& engine) {
    Scenario scenario = with_link("node0.nic0", {}, 0);
    for (GradientTensor& tensor : scenario.model.change().tensors) tensor.elements = 1;
    CHECK(run(scenario, engine).lost != "");
  });
}

// 16 MiB at a time would be a billion pieces.
TEST_CASE("traffic that never ends does not keep a run that is lost from ending", "[world]") {
  on_networks([](const Engine& engine) {
    Scenario scenario = toy::scenario();
    scenario.cluster.nic = scenario.cluster.intra = {BytesPerSecond{10e9}, Seconds{0}};
    scenario.world.ranks.push_back({0, {}, 0});
    scenario.world.flows.push_back({0, 1, {}, {}});
    CHECK(run(scenario, engine).lost != "");
  });
}

// 10 ms from 18 ms on, in which the job has half of rank 0's way to rank 1. 24 ms of the ring's
// are 2 rounds of 12: by 28 ms 5 of these are done, and the rest takes 19 ms.
TEST_CASE("traffic ends with its period", "[world]") {
  on_networks([](const Engine& engine) {
    Scenario scenario = toy::scenario();
    // Pieces of 16 MiB are longer than the toy: everything a million times as large.
    for (GradientTensor& tensor : scenario.model.change().tensors) tensor.elements *= 1'000'000;
    scenario.cluster.nic.bandwidth = BytesPerSecond{1e12};
    scenario.cluster.intra.bandwidth = BytesPerSecond{1e15};
    scenario.world.flows.push_back({0, 1, {18 * kMs, 10 * kMs}, {}});
    CHECK(milliseconds(engine, scenario) == Approx(48).epsilon(1e-3));
  });
}
