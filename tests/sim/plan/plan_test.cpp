// The steps of an iteration, what each waits for, and what it carries.
#include "sim/plan/plan.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/plan/plan_check.hpp"
#include "sim/plan/plan_summary.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps) names.push_back(step.name);
  return names;
}

Plan toy_plan(const char* compressor, const char* fusion, bool overlap) {
  Scenario scenario = toy::scenario(compressor);
  scenario.fusion = parse_fusion(fusion);
  scenario.overlap = overlap;
  return make_plan(scenario);
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("merged and dense: one collective after the whole of backward", "[plan]") {
  const Plan plan = toy_plan("dense", "merged", false);
  CHECK(names(plan) == Names{"forward a", "forward b", "forward c", "backward c", "backward b",
                             "backward a", "ring-all-reduce bucket 0", "update"});
  CHECK(plan.steps[6].after == std::vector<std::size_t>{5});
  CHECK(plan.steps[6].load.payload == Bytes{4 * 6000});
  CHECK(plan.steps[7].after == std::vector<std::size_t>{6});
}

TEST_CASE("with overlap a bucket is encoded and sent as soon as backward has filled it", "[plan]") {
  CHECK(names(toy_plan("topk", "layer", true)) ==
        Names{"forward a", "forward b", "forward c",                        //
              "backward c", "encode bucket 0", "ring-all-gather bucket 0",  //
              "backward b", "encode bucket 1", "ring-all-gather bucket 1",  //
              "backward a", "encode bucket 2", "ring-all-gather bucket 2",  //
              "decode bucket 0", "decode bucket 1", "decode bucket 2", "update"});
}

TEST_CASE("without overlap backward, encodes, collectives and decodes follow one another",
          "[plan]") {
  const Plan plan = toy_plan("topk", "layer", false);
  CHECK(names(plan) ==
        Names{"forward a", "forward b", "forward c", "backward c", "backward b", "backward a",  //
              "encode bucket 0", "encode bucket 1", "encode bucket 2",                          //
              "ring-all-gather bucket 0", "ring-all-gather bucket 1", "ring-all-gather bucket 2",
              "decode bucket 0", "decode bucket 1", "decode bucket 2", "update"});
  // Steps 6 to 8 encode, 9 to 11 send, 12 to 14 decode.
  using Steps = std::vector<std::size_t>;
  for (const std::size_t encode : {6, 7, 8}) CHECK(plan.steps[encode].after == Steps{5});
  CHECK(plan.steps[9].after == Steps{6, 8});
  CHECK(plan.steps[10].after == Steps{6, 7, 8});
  CHECK(plan.steps[12].after == Steps{9, 11});
  CHECK(plan.steps[15].after == Steps{12, 13, 14});
}

TEST_CASE("a pipeline without overlap sends a bucket while the next is encoded", "[plan]") {
  Scenario scenario = toy::scenario("topk");
  scenario.fusion = parse_fusion("layer");
  scenario.pipeline = true;
  const Plan plan = make_plan(scenario);
  CHECK(names(plan) == Names{"forward a", "forward b", "forward c", "backward c", "backward b",
                             "backward a",                                   //
                             "encode bucket 0", "ring-all-gather bucket 0",  //
                             "encode bucket 1", "ring-all-gather bucket 1",  //
                             "encode bucket 2", "ring-all-gather bucket 2",  //
                             "decode bucket 0", "decode bucket 1", "decode bucket 2", "update"});
  CHECK(plan.steps[7].after == std::vector<std::size_t>{6});
  CHECK(plan.steps[12].after == std::vector<std::size_t>{7});
}

TEST_CASE("collectives share the network with overlap or in a pipeline only", "[plan]") {
  Scenario scenario = toy::scenario();
  scenario.network_streams = 2;
  CHECK(make_plan(scenario).network_streams == 1);
  scenario.pipeline = true;
  CHECK(make_plan(scenario).network_streams == 2);
  scenario.pipeline = false;
  scenario.overlap = true;
  CHECK(make_plan(scenario).network_streams == 2);
}

// 6000 elements at density 0.01 are 60, of 8 bytes each: 480 bytes a rank.
TEST_CASE("sparse gradients travel as 8 bytes an element, in one message or two", "[plan]") {
  Scenario scenario = toy::scenario("topk");
  Plan plan = make_plan(scenario);
  CHECK(plan.buckets[0].selected == 60);
  CHECK(plan.buckets[0].payload == Bytes{480});
  CHECK(plan.steps[7].load.payload == Bytes{480});

  scenario.wire_messages = 2;  // values, then indices
  plan = make_plan(scenario);
  CHECK(plan.steps[7].load.payload == Bytes{240});
  CHECK(plan.steps[8].load.payload == Bytes{240});
  CHECK(plan.steps[7].after == std::vector<std::size_t>{6});  // both wait for the encoding
  CHECK(plan.steps[8].after == std::vector<std::size_t>{6});
  CHECK(plan.steps[9].name == "decode bucket 0");
  CHECK(plan.steps[9].after == std::vector<std::size_t>{7, 8});
}

// Random-k with a shared seed: 60 of 6000 elements, values of 4 bytes: 240 bytes, a half of them a
// message. One set is decoded, for which the table says 3 ms; for 16 it would say 48.
TEST_CASE("an all-reduce adds up the values of elements that a shared seed chose", "[plan]") {
  Scenario scenario = toy::scenario("randk");
  scenario.collective = find_collective("ring-all-reduce");
  scenario.wire_bytes_per_element = bytes_of_value(ValueType::Fp32);
  for (CostRow& row : scenario.costs.change().rows) {
    row.compressor = "randk";
    row.decode *= row.workers;
  }
  const Plan plan = make_plan(scenario);
  CHECK(plan.buckets[0].selected == 60);
  CHECK(plan.buckets[0].payload == Bytes{240});
  CHECK(plan.buckets[0].collective->name == "ring-all-reduce");
  CHECK(plan.buckets[0].cost.decode.count() == Approx(3e-3));
  const std::vector<Phase> phases =
      plan.buckets[0].collective->phases(even_layout(2, 1), plan.steps[7].load);
  CHECK(phases[0].messages[0].bytes == Bytes{120});
  scenario.collective = find_collective("ring-all-gather");
  CHECK(make_plan(scenario).buckets[0].cost.decode.count() > 3e-3);  // two sets
  scenario.compressor = find_compressor("topk");
  scenario.collective = find_collective("ring-all-reduce");
  CHECK_THROWS_AS(make_plan(scenario), std::logic_error);
}

// 6000 elements take 6 ms to encode and 3 ms to decode; 60 of 8 bytes travel either way.
TEST_CASE(
    "where nothing is worked on, what would be sent is sent, and encode and decode take no time",
    "[plan]") {
  Scenario scenario = toy::scenario("topk");
  scenario.codec.per_call = Seconds{1};  // a correction of a time that is not there
  scenario.compressing = false;
  const Plan plan = make_plan(scenario);
  CHECK(plan.buckets[0].cost.encode == Seconds{0});
  CHECK(plan.buckets[0].cost.decode == Seconds{0});
  CHECK(plan.buckets[0].selected == 60);
  CHECK(plan.buckets[0].payload == Bytes{480});
  CHECK(names(plan) == names(make_plan(toy::scenario("topk"))));
  // More than the table has: no time is taken from it.
  scenario.model.change().tensors[0].elements = 20'000;
  CHECK(outside_of(make_plan(scenario)).empty());
  scenario.compressing = true;
  CHECK_FALSE(outside_of(make_plan(scenario)).empty());
}

TEST_CASE("one rank alone neither compresses nor communicates", "[plan]") {
  Scenario scenario = toy::scenario("topk");
  scenario.cluster.nodes = 1;
  const Plan plan = make_plan(scenario);
  CHECK(plan.buckets.empty());
  for (const PlanStep& step : plan.steps) CHECK(step.kind != StepKind::Encode);
  CHECK(plan.steps.size() == 7);
}

// Two ranks, a ring all-reduce of 2 rounds: 4 messages; 3 buckets make 12.
TEST_CASE("messages are those of all ranks, rounds and collectives", "[plan]") {
  CHECK(messages_of(toy_plan("dense", "merged", false), toy::scenario().cluster) == 4);
  CHECK(messages_of(toy_plan("dense", "layer", false), toy::scenario().cluster) == 12);
}

TEST_CASE("a plan says what its costs rest on, and whether any bucket leaves the table", "[plan]") {
  const Plan within = toy_plan("topk", "layer", false);
  CHECK(evidence_of(within) == "derived");
  CHECK(outside_of(within).empty());
  Scenario scenario = toy::scenario("topk");
  scenario.fusion = parse_fusion("layer");
  scenario.model.change().tensors[0].elements = 30'000;  // the last bucket to be filled
  CHECK_THAT(outside_of(make_plan(scenario)), Catch::Contains("elements 30000 outside 100..10000"));
  CHECK(evidence_of(toy_plan("dense", "merged", false)).empty());
}

TEST_CASE("far beyond a cost table there is no plan, unless one insists", "[plan]") {
  Scenario scenario = toy::scenario("topk");
  scenario.extrapolate = false;
  scenario.fusion = parse_fusion("layer");
  scenario.model.change().tensors[0].elements = 30'001;  // more than three times the table's 10,000
  CHECK_THROWS_WITH(make_plan(scenario), Catch::Contains("costs of 'topk': a size of 30001") &&
                                             Catch::Contains("--extrapolate yes"));
  scenario.extrapolate = true;
  CHECK_FALSE(outside_of(make_plan(scenario)).empty());
}

// k of 1000 + 2000 + 3000 elements at 0.0015: 1 + 3 + 4 of each, 9 of all as one.
TEST_CASE("a selection per tensor has the k of each, and a call each where costs have no other",
          "[plan]") {
  Scenario scenario = toy::scenario("topk");
  scenario.density = 0.0015;
  CHECK(make_plan(scenario).buckets[0].selected == 9);
  CHECK(encode_calls(make_plan(scenario)) == 1);
  scenario.selection = SelectionScope::PerTensor;
  Plan plan = make_plan(scenario);
  CHECK(plan.buckets[0].selected == 8);
  CHECK(plan.buckets[0].payload == Bytes{8 * 8});
  CHECK(plan.buckets[0].cost.encode.count() == Approx(6e-3));  // 1 us an element
  CHECK(encode_calls(plan) == 3);

  for (const int workers : {1, 16}) {
    CostRow row = scenario.costs->rows[0];
    row.tensors = 3;
    row.elements = 6000;
    row.workers = workers;
    row.encode = Seconds{4e-3};
    row.selected = 1 + 1 + 1;
    row.density = 0.0005;
    scenario.costs.change().rows.push_back(row);
  }
  plan = make_plan(scenario);
  CHECK(plan.buckets[0].cost.encode.count() == Approx(4e-3));
  CHECK(plan.buckets[0].selected == 8);
  CHECK(encode_calls(plan) == 1);
  scenario.fusion = parse_fusion("layer");  // a tensor a bucket
  CHECK(encode_calls(make_plan(scenario)) == 3);
  CHECK(encode_calls(toy_plan("dense", "layer", false)) == 0);
}

TEST_CASE("costs are of the implementation that is asked for", "[plan]") {
  Scenario scenario = toy::scenario("topk");
  scenario.implementation = "toy";
  CHECK(make_plan(scenario).buckets[0].cost.implementation == "toy");
  scenario.implementation = "torch";
  CHECK_THROWS_WITH(make_plan(scenario), Catch::Contains("in implementation 'torch' (it has "
                                                         "'toy')"));
}

TEST_CASE("evidence of several kinds is said once", "[plan]") {
  Scenario scenario = toy::scenario("topk");
  scenario.fusion = parse_fusion("layer");
  for (std::size_t i = 0; i < 4; ++i) {
    scenario.costs.change().rows.push_back(scenario.costs->rows[i]);
    scenario.costs.change().rows.back().density = 0.1;
    scenario.costs.change().rows.back().evidence = "measured";
  }
  scenario.density = 0.05;
  CHECK(evidence_of(make_plan(scenario)) == "derived+measured");
}

TEST_CASE("costs are asked for as many workers as there are ranks", "[plan]") {
  Scenario scenario = toy::scenario("topk");
  for (CostRow& row : scenario.costs.change().rows) row.decode *= row.workers;
  scenario.cluster.nodes = 3;
  scenario.cluster.gpus_per_node = 1;
  CHECK(make_plan(scenario).buckets[0].cost.decode.count() == Approx(3 * 3e-3));
  scenario.cluster.gpus_per_node = 5;
  CHECK(make_plan(scenario).buckets[0].cost.decode.count() == Approx(15 * 3e-3));
}

TEST_CASE("a software overhead is a step of its own", "[plan]") {
  Scenario scenario = toy::scenario();
  scenario.cluster.per_iteration_overhead = Seconds{5e-3};
  const Plan plan = make_plan(scenario);
  CHECK(plan.steps[0].kind == StepKind::Overhead);
  CHECK(plan.steps[0].duration == Seconds{5e-3});
}

TEST_CASE("a trace of another model and costs of another compressor are refused", "[plan]") {
  Scenario scenario = toy::scenario("gaussian");
  CHECK_THROWS_WITH(make_plan(scenario), Catch::Contains("toy-costs: has no costs of compressor "
                                                         "'gaussian' (it has 'topk')"));
  scenario = toy::scenario();
  scenario.trace.change().tensors[1].tensor = "x";
  CHECK_THROWS_WITH(make_plan(scenario), Catch::Contains("tensor 2 is 'x', the model's is 'b'"));
  scenario.trace.change().tensors.pop_back();
  CHECK_THROWS_AS(make_plan(scenario), DataError);
}

TEST_CASE("a step that depends on itself or a later one is our own defect", "[plan]") {
  Plan plan = toy_plan("dense", "merged", false);
  plan.steps[2].after = {2};
  CHECK_THROWS_AS(require_ordered(plan), std::logic_error);
}

TEST_CASE("micro-steps compute one after another, and the last one's gradients are sent",
          "[plan]") {
  Scenario scenario = toy::scenario();
  scenario.accumulation = 2;
  CHECK(names(make_plan(scenario)) ==
        Names{"forward a of micro-step 1", "forward b of micro-step 1", "forward c of micro-step 1",
              "backward c of micro-step 1", "backward b of micro-step 1",
              "backward a of micro-step 1",  //
              "forward a of micro-step 2", "forward b of micro-step 2", "forward c of micro-step 2",
              "backward c of micro-step 2", "backward b of micro-step 2",
              "backward a of micro-step 2",  //
              "ring-all-reduce bucket 0", "update"});
}

TEST_CASE("buffers are broadcast by type before a forward that follows a synchronised backward",
          "[plan]") {
  Scenario scenario = toy::scenario();
  GradientTensor& first = scenario.model.change().tensors[0];
  first.buffer_bytes = 4000;
  first.counter_bytes = 8;
  const auto broadcasts = [&] {
    std::vector<std::int64_t> payloads;
    for (const PlanStep& step : make_plan(scenario).steps)
      if (step.name.ends_with(" buffers")) payloads.push_back(step.load.payload.count);
    return payloads;
  };
  CHECK(broadcasts().empty());  // no stack says so
  scenario.broadcast_buffers = true;
  CHECK(broadcasts() == std::vector<std::int64_t>{4000, 8});
  const Plan plan = make_plan(scenario);
  CHECK(names(plan)[2] == "buffers broadcast");
  CHECK(names(plan)[3] == "forward a");
  CHECK(plan.steps[2].after == std::vector<std::size_t>{0, 1});

  scenario.accumulation = 3;  // the second and third forward follow a backward under no_sync()
  CHECK(broadcasts() == std::vector<std::int64_t>{4000, 8});
  scenario.synchronise = Synchronise::Every;
  CHECK(broadcasts() == std::vector<std::int64_t>{4000, 8, 4000, 8, 4000, 8});
  scenario.cluster.nodes = 1;
  CHECK(broadcasts().empty());  // a rank alone
}

// Three parameters of an int32 each. a, of the input, is full first and so sent last.
TEST_CASE("who looks for unused parameters tells the others which were used", "[plan]") {
  Scenario scenario = toy::scenario();
  scenario.fusion = parse_fusion("ddp-find-unused:1B");
  scenario.overlap = true;
  Plan plan = make_plan(scenario);
  CHECK(names(plan) == Names{"forward a", "forward b", "forward c", "backward c",
                             "ring-all-reduce bucket 0", "backward b", "ring-all-reduce bucket 1",
                             "backward a", "ring-all-reduce bucket 2",
                             "ring-all-reduce used parameters", "update"});
  CHECK(plan.steps[9].load.payload == Bytes{12});
  CHECK(plan.steps[9].after == std::vector<std::size_t>{7});  // the last backward
  CHECK(plan.steps[10].after == std::vector<std::size_t>{4, 6, 8, 9});

  scenario.accumulation = 2;  // gradients of the first micro-step are not exchanged
  const auto told = [&] {
    const Names all = names(make_plan(scenario));
    return std::count(all.begin(), all.end(), "ring-all-reduce used parameters");
  };
  CHECK(told() == 1);
  scenario.synchronise = Synchronise::Every;
  CHECK(told() == 2);
  scenario.cluster.nodes = 1;
  CHECK(told() == 0);  // a rank alone
}

TEST_CASE("gradients may be copied into a bucket together", "[plan]") {
  Scenario scenario = toy::scenario();
  scenario.gradient_copies = GradientCopies::Batched;
  const Names without = names(make_plan(scenario));
  CHECK(std::find(without.begin(), without.end(), "backward copies of bucket 0") == without.end());
  scenario.cluster.per_tensor_overhead = Seconds{1e-3};
  CHECK(names(make_plan(scenario)) ==
        Names{"forward a", "forward b", "forward c", "backward c", "backward b", "backward a",
              "backward copies of bucket 0", "ring-all-reduce bucket 0", "update"});
}

// Forward 6 ms, backward 12, sixteen times; the update is 1 ms.
TEST_CASE("a rank alone computes all sixteen micro-steps, and its batch is sixteen times as large",
          "[plan]") {
  Scenario scenario = toy::scenario();
  scenario.accumulation = 16;
  CHECK(scenario.compute().count() == Approx(289e-3));
  CHECK(scenario.batch() == 16);
}

// The cut is before the last backward: after the updates comes the next iteration's first
// micro-step.
TEST_CASE("with a priority queue the other micro-steps stand between the updates and the cut",
          "[plan]") {
  Scenario scenario = toy::scenario();
  scenario.accumulation = 2;
  scenario.queue = Queue::Priority;
  CHECK(names(make_plan(scenario)) ==
        Names{"backward c of micro-step 2", "backward b of micro-step 2",
              "backward a of micro-step 2",  //
              "ring-all-reduce bucket 0", "update bucket 0", "forward a of micro-step 1",
              "forward b of micro-step 1", "forward c of micro-step 1",
              "backward c of micro-step 1", "backward b of micro-step 1",
              "backward a of micro-step 1",  //
              "forward a of micro-step 2", "forward b of micro-step 2",
              "forward c of micro-step 2"});
}
