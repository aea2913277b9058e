// Gradient accumulation: times of several micro-steps of the toy. Forward 6 ms, backward 12, update
// 1.
#include <catch2/catch.hpp>

#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

IterationResult of_micro_steps(int count, const char* fusion, bool overlap, Queue queue) {
  Scenario scenario = toy::scenario();
  scenario.accumulation = count;
  scenario.fusion = parse_fusion(fusion);
  scenario.overlap = overlap;
  scenario.queue = queue;
  return run(scenario, *find_engine("analytic"));
}

}  // namespace

// Forward 6 ms, backward 12: sixteen times are 96 and 192 ms; the update is 1 ms.
TEST_CASE("the computing of sixteen micro-steps adds up", "[engine]") {
  const IterationResult result = of_micro_steps(16, "merged", false, Queue::Fifo);
  CHECK(result.forward.count() == Approx(96e-3));
  CHECK(result.backward.count() == Approx(192e-3));
  CHECK(result.update.count() == Approx(1e-3));
}

// c is there after 6 of the last backward's 12 ms and takes 12 ms on the wire, b then 8, a then 4:
// they end 30 ms after that backward began, 18 of it with nothing to compute, however many
// micro-steps came before.
TEST_CASE("communication hides under the last micro-step's backward only", "[engine]") {
  for (const int count : {1, 2, 16}) {
    const IterationResult result = of_micro_steps(count, "layer", true, Queue::Fifo);
    CHECK(result.communication.count() == Approx(24e-3));
    CHECK(result.exposed_communication.count() == Approx(18e-3));
    CHECK(result.iteration.count() == Approx(count * 18e-3 + 18e-3 + 1e-3));
  }
}

// All but the last micro-step's backward stand before the cut, in full: 18 ms each.
TEST_CASE("with a priority queue every micro-step before the last adds its computing", "[engine]") {
  const auto iteration = [](int count) {
    return of_micro_steps(count, "layer", true, Queue::Priority).iteration.count();
  };
  CHECK(iteration(16) == Approx(iteration(1) + 15 * 18e-3));
}
