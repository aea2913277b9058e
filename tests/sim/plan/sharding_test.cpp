// Bytes and memory of sharded training, by hand.
#include <catch2/catch.hpp>

#include "sim/plan/memory.hpp"
#include "sim/plan/parameter_owners.hpp"
#include "sim/plan/plan_summary.hpp"
#include "sim/plan/shard_units.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// A model of 7.5 B parameters in 30 equal units, fp16, with Adam.
Scenario billions(const char* sharding, int ranks) {
  Scenario scenario = toy::scenario();
  scenario.model.change().tensors.clear();
  scenario.trace.change().tensors.clear();
  for (int i = 0; i < 30; ++i) {
    const std::string name = "block" + std::to_string(i);
    GradientTensor tensor{name, name, 250'000'000, 0};
    tensor.unit = name;
    scenario.model.change().tensors.push_back(tensor);
    scenario.trace.change().tensors.push_back({name, Seconds{0.01}, Seconds{0.02}});
  }
  set_types(scenario.model.change(), {.parameter = NumberType::Fp16});
  scenario.optimizer = Optimizer::Adam;
  scenario.cluster.nodes = ranks;
  scenario.sharding = parse_sharding(sharding);
  scenario.fusion = parse_fusion("25MiB");
  return scenario;
}

/// The memory that ZeRO counts, without tensors that are whole for a while.
double gigabytes(const Scenario& scenario) {
  const MemoryUse use = memory_of(scenario, make_plan(scenario));
  const Bytes kept = use.parameters + use.gradients + use.optimizer;
  return static_cast<double>(kept.count) / 1e9;
}

}  // namespace

TEST_CASE("memory of 7.5 B parameters on 64 GPUs is as ZeRO's figure 1 has it") {
  // 2 + 2 + 12 bytes an element: 120 GB; 4 + 12/64; 2 + 14/64; 16/64 (SC 2020, figure 1: 120, 31.4,
  // 16.6, 1.9 GB).
  CHECK(gigabytes(billions("none", 64)) == Approx(120).epsilon(1e-6));
  CHECK(gigabytes(billions("zero1", 64)) == Approx(31.4).margin(0.05));
  CHECK(gigabytes(billions("zero2", 64)) == Approx(16.6).margin(0.05));
  CHECK(gigabytes(billions("fsdp", 64)) == Approx(1.9).margin(0.05));
}

TEST_CASE("zero3 is said to be fsdp", "[sharding]") {
  CHECK_THROWS_WITH(parse_sharding("zero3"), Contains("'zero3' is what fsdp does"));
  CHECK_THROWS_WITH(parse_sharding("zero-3"), Contains("'zero-3' is what fsdp does"));
  CHECK_THROWS_WITH(parse_sharding("ddp"), Contains("'ddp' shards nothing: that is none"));
  CHECK_THROWS_WITH(parse_sharding("zero4"), !Contains("fsdp does"));
}

TEST_CASE("gradients that add up over micro-steps are whole on every rank") {
  Scenario scenario = billions("zero2", 64);
  scenario.accumulation = 4;
  scenario.synchronise = Synchronise::Last;
  CHECK(gigabytes(scenario) == Approx(31.4).margin(0.05));
  scenario.synchronise = Synchronise::Usual;
  CHECK(gigabytes(scenario) == Approx(16.6).margin(0.05));
}

// Elements 3, 5, 1, 4, 3 on two ranks: 5 goes to the first, 4 and the earlier 3 to the second,
// which has 7 then; the other 3 goes to the first, which has 8, and 1 to the second.
TEST_CASE("ZeroRedundancyOptimizer gives the largest parameter to the rank with least",
          "[sharding]") {
  Model model;
  for (const std::int64_t elements : {3, 5, 1, 4, 3}) {
    const std::string name = "t" + std::to_string(model.tensors.size());
    model.tensors.push_back({name, name, elements, 0});
  }
  const ParameterOwners owners = parameter_owners(model, 2);
  CHECK(owners == ParameterOwners{{1, 4}, {3, 0, 2}});
  CHECK(largest_update(model, owners) == Approx(8.0 / 16));
  // A frozen parameter has an owner too, which does not update it.
  model.tensors[1].frozen = true;
  CHECK(parameter_owners(model, 2) == owners);
  CHECK(largest_update(model, owners) == Approx(8.0 / 11));
  // The sixth rank owns nothing.
  CHECK(parameter_owners(model, 6) == ParameterOwners{{1}, {3}, {0}, {4}, {2}, {}});
}

// The toy's 1000, 2000 and 3000 elements with momentum, 4 bytes each. Each of two ranks owns 3000;
// with three, one owns all of c.
TEST_CASE("a rank that owns parameters keeps the state of all of them", "[sharding]") {
  Scenario scenario = toy::scenario();
  scenario.sharding = parse_sharding("zero1");
  scenario.cluster.nodes = 3;
  CHECK(memory_of(scenario, make_plan(scenario)).optimizer == Bytes{8'000});
  scenario.owners_broadcast = true;
  CHECK(memory_of(scenario, make_plan(scenario)).optimizer == Bytes{12'000});
  scenario.cluster.nodes = 2;
  CHECK(memory_of(scenario, make_plan(scenario)).optimizer == Bytes{12'000});
}

// Buckets two at a time; the time of Gloo's broadcasts counts the second that is under way.
TEST_CASE("broadcasts go one at a time beside buckets that go two at a time", "[sharding]") {
  Scenario scenario = toy::scenario();
  scenario.overlap = true;
  scenario.network_streams = 2;
  scenario.sharding = parse_sharding("zero1");
  scenario.owners_broadcast = true;
  const Plan plan = make_plan(scenario);
  int broadcasts = 0;
  for (const PlanStep& step : plan.steps) {
    if (step.kind != StepKind::Collective) continue;
    const bool broadcast = step.collective->outcome == Outcome::Broadcast;
    broadcasts += broadcast;
    CAPTURE(step.name);
    CHECK(plan.streams_of(step.communicator) == (broadcast ? 1 : 2));
  }
  CHECK(broadcasts == 3);  // a tensor each
}

// The toy's 6000 elements, 24,000 bytes, of which c alone has 12,000.
TEST_CASE("gradients that are copied into buckets take their memory twice") {
  Scenario scenario = toy::scenario();
  const auto buckets = [&](const char* fusion) {
    scenario.fusion = parse_fusion(fusion);
    return memory_of(scenario, make_plan(scenario)).buckets.count;
  };
  CHECK(buckets("ddp") == 24'000);
  CHECK(buckets("merged") == 24'000);
  CHECK(buckets("mg-wfbp") == 24'000);
  CHECK(buckets("cycle:5ms,64MiB") == 24'000);  // Horovod's buffer holds no more
  CHECK(buckets("cycle:5ms,10kB") == 10'000);
  CHECK(buckets("10kB") == 12'000);  // c, then b and a
  CHECK(buckets("layer") == 0);
  scenario.gradient_copies = GradientCopies::View;
  CHECK(buckets("ddp") == 0);
  scenario.gradient_copies = GradientCopies::Batched;
  CHECK(buckets("ddp") == 24'000);
  scenario.sharding = parse_sharding("fsdp");
  scenario.sharding.unit_elements = 1000;
  CHECK(buckets("ddp") == 0);
  scenario.sharding = {};
  scenario.cluster.nodes = 1;
  CHECK(buckets("ddp") == 0);  // nothing is sent
}

TEST_CASE("FSDP keeps as many units whole as it gathers ahead, and one") {
  Scenario scenario = billions("fsdp", 64);
  scenario.overlap = true;  // one unit ahead
  // Two units of 500 MB, and the gradients of one.
  CHECK(memory_of(scenario, make_plan(scenario)).unsharded == Bytes{1'500'000'000});
  scenario.sharding.prefetch = 3;
  CHECK(memory_of(scenario, make_plan(scenario)).unsharded == Bytes{2'500'000'000});
  scenario.sharding.reshard_after_forward = false;
  CHECK(memory_of(scenario, make_plan(scenario)).unsharded == Bytes{15'500'000'000});
}

TEST_CASE("error feedback doubles the memory of fp32 gradients") {
  const Scenario scenario = toy::scenario("topk");  // 6000 elements
  const MemoryUse use = memory_of(scenario, make_plan(scenario));
  CHECK(use.gradients == Bytes{24'000});
  CHECK(use.residual == Bytes{24'000});
  CHECK(use.buckets == Bytes{24'000});
  CHECK(use.optimizer == Bytes{24'000});       // momentum
  CHECK(use.compressor == Bytes{60 * 8 * 3});  // sends 60 pairs, and gets those of both ranks
  CHECK(use.total() == Bytes{5 * 24'000 + 1'440});
}

TEST_CASE("a cast's all-reduce works in place: 2 bytes an element, once") {
  const Scenario scenario = toy::scenario("fp16");  // 6000 elements
  CHECK(memory_of(scenario, make_plan(scenario)).compressor == Bytes{12'000});
}

// Two copies of shards of two ranks: each rank compresses 3000 of 6000 elements, or all.
TEST_CASE("error feedback is of all gradients where sharding all-reduces them", "[sharding]") {
  Scenario scenario = toy::scenario("topk");
  scenario.cluster.nodes = 4;
  scenario.sharding = parse_sharding("zero1");
  scenario.sharding.group = 2;
  CHECK(memory_of(scenario, make_plan(scenario)).residual == Bytes{12'000});
  scenario.shards_all_reduced = true;
  CHECK(memory_of(scenario, make_plan(scenario)).residual == Bytes{24'000});
  scenario.shards_all_reduced = false;
  scenario.owners_broadcast = true;
  CHECK(memory_of(scenario, make_plan(scenario)).residual == Bytes{24'000});
}

TEST_CASE("bf16 gradients halve what is sent, and pairs stay pairs") {
  Scenario dense = toy::scenario();
  Scenario sparse = toy::scenario("topk");
  for (Scenario* scenario : {&dense, &sparse})
    set_types(scenario->model.change(), {.gradient = NumberType::Bf16});
  CHECK(make_plan(dense).buckets[0].payload == Bytes{12'000});
  CHECK(make_plan(sparse).buckets[0].payload == Bytes{60 * 8});
}

TEST_CASE("mixed types add up tensor by tensor") {
  Scenario scenario = toy::scenario();
  GradientTensor& b = scenario.model.change().tensors[1];
  b.type = b.gradient_type = b.sum_type = NumberType::Bf16;
  CHECK(make_plan(scenario).buckets[0].payload == Bytes{4'000 + 2 * 2'000 + 12'000});
}

TEST_CASE("DDP has buckets of its own for each type") {
  Scenario scenario = toy::scenario();
  GradientTensor& b = scenario.model.change().tensors[1];
  b.type = b.gradient_type = b.sum_type = NumberType::Bf16;
  scenario.fusion = parse_fusion("ddp");
  const Plan plan = make_plan(scenario);
  REQUIRE(plan.buckets.size() == 2);
  CHECK(plan.buckets[0].payload == Bytes{2 * 2'000});  // b, ready before a
  CHECK(plan.buckets[1].payload == Bytes{4 * 4'000});  // a and c
}

TEST_CASE("units are those of the model, or end with a layer of at least a size") {
  Model model = toy::scenario().model;  // layers of 1000, 2000, 3000
  CHECK_THROWS_WITH(shard_units(model, 0), Contains("names no units") && Contains("unit-size"));
  CHECK(shard_units(model, 1).size() == 3);
  CHECK(shard_units(model, 2'500).size() == 2);  // a and b together, c
  for (GradientTensor& tensor : model.tensors) tensor.unit = "all";
  CHECK(shard_units(model, 0).size() == 1);
  CHECK(shard_units(model, 0)[0].parameters == Bytes{24'000});
}
