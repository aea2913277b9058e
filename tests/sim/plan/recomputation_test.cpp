#include "sim/plan/recomputation.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/plan/memory.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// Units x (a and b) and y (c). For one sample a keeps 10 values, b 20 and 5 bytes, c 100.
Scenario kept() {
  Scenario scenario = toy::scenario();
  Model& model = scenario.model.change();
  model.tensors[0].unit = model.tensors[1].unit = "x";
  model.tensors[2].unit = "y";
  model.tensors[0].kept_elements = 10;
  model.tensors[1].kept_elements = 20;
  model.tensors[1].kept_bytes = 5;
  model.tensors[2].kept_elements = 100;
  model.tensors[0].unit_input = 7;
  model.tensors[2].unit_input = 8;
  return scenario;
}

}  // namespace

TEST_CASE("activations are all that layers keep, in their type") {
  Scenario scenario = kept();
  CHECK(activations_of_sample(scenario.model, Recompute::None) == Bytes{130 * 4 + 5});
  set_types(scenario.model.change(), {.activation = NumberType::Bf16});
  CHECK(activations_of_sample(scenario.model, Recompute::None) == Bytes{130 * 2 + 5});
  set_types(scenario.model.change(), {.parameter = NumberType::Fp16});
  CHECK(activations_of_sample(scenario.model, Recompute::None) == Bytes{130 * 2 + 5});
}

// When backward begins: x's input and all of y, (7 + 100) x 4. In x: its input and all it keeps.
TEST_CASE("recomputation keeps inputs, and all of one unit") {
  Scenario scenario = kept();
  CHECK(activations_of_sample(scenario.model, Recompute::Full) == Bytes{107 * 4});
  scenario.model.change().tensors[2].kept_elements = 1;
  CHECK(activations_of_sample(scenario.model, Recompute::Full) == Bytes{(7 + 30) * 4 + 5});
}

TEST_CASE("a model that does not say what it keeps has unknown activations") {
  const Scenario scenario = toy::scenario();
  CHECK_FALSE(activations_of_sample(scenario.model, Recompute::None));
  const MemoryUse use = memory_of(scenario, make_plan(scenario));
  CHECK_FALSE(use.activations_known);
  CHECK_FALSE(largest_batch(scenario, use, Bytes{1'000'000}));
}

// 6000 parameters: 24,000 bytes of each of parameters, gradients, buckets and momentum.
TEST_CASE("memory grows with the micro-step's batch, and the largest batch fills what is left") {
  Scenario scenario = kept();
  scenario.trace.change().batch = 3;
  const MemoryUse use = memory_of(scenario, make_plan(scenario));
  CHECK(use.activations == Bytes{3 * 525});
  CHECK(use.total() == Bytes{96'000 + 3 * 525});
  CHECK(largest_batch(scenario, use, Bytes{96'000 + 10 * 525}) == 10);
  CHECK(largest_batch(scenario, use, Bytes{96'000 + 10 * 525 - 1}) == 9);
  CHECK(largest_batch(scenario, use, Bytes{96'000}) == 0);
  CHECK(largest_batch(scenario, use, Bytes{1'000}) == 0);
  scenario.accumulation = 4;
  CHECK(largest_batch(scenario, use, Bytes{96'000 + 10 * 525}) == 40);
}

// Backward is 6 ms of c, then forward of a and b again, 1 + 2 ms, which b carries: 4 + 3, then 2.
TEST_CASE("backward of a unit begins with its forward, but that of the last unit") {
  const Scenario scenario = kept();
  const IterationTrace trace = with_recomputation(scenario.trace, scenario.model);
  CHECK(trace.tensors[2].backward.count() == Approx(0.006));
  CHECK(trace.tensors[1].backward.count() == Approx(0.007));
  CHECK(trace.tensors[0].backward.count() == Approx(0.002));
  CHECK(trace.iteration().count() == Approx(scenario.trace->iteration().count() + 0.003));
  CHECK_FALSE(trace.has_launches());
}

// The host launches a, b and c at 0, 1 and 2 ms, and backward at 3, 4 and 5. Launching x again
// takes 2 ms: from 4 on, when b's backward was, so that a's is at 5 + 2.
TEST_CASE("the host launches a unit's forward again") {
  Scenario scenario = kept();
  IterationTrace& given = scenario.trace.change();
  for (std::size_t i = 0; i < 3; ++i) {
    given.tensors[i].forward_launch = Seconds{0.001 * static_cast<double>(i)};
    given.tensors[i].backward_launch = Seconds{0.001 * static_cast<double>(5 - i)};
  }
  given.update_launch = Seconds{0.006};
  given.host = Seconds{0.007};
  const IterationTrace trace = with_recomputation(scenario.trace, scenario.model);
  CHECK(trace.tensors[2].backward_launch.count() == Approx(0.003));
  CHECK(trace.tensors[1].backward_launch.count() == Approx(0.004));
  CHECK(trace.tensors[0].backward_launch.count() == Approx(0.007));
  CHECK(trace.update_launch.count() == Approx(0.008));
  CHECK(trace.host.count() == Approx(0.009));
}

TEST_CASE("recomputation goes by the units of the model") {
  const Scenario scenario = toy::scenario();
  CHECK_THROWS_WITH(with_recomputation(scenario.trace, scenario.model),
                    Contains("model 'toy' names no units (column 'unit')"));
}
