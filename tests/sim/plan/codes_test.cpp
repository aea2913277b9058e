// Bytes and rounds of casts, quantisers and PowerSGD.
#include <catch2/catch.hpp>

#include "sim/plan/plan.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

/// The bucket with all 6000 elements of the toy network.
PlannedBucket merged(const char* compressor, int wire_bytes = 0) {
  Scenario scenario = toy::scenario(compressor);
  scenario.fusion = parse_fusion("merged");
  scenario.wire_bytes_per_element = wire_bytes;
  return make_plan(scenario).buckets.at(0);
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps) names.push_back(step.name);
  return names;
}

}  // namespace

// 6000 codes: of 16 bits 12,000 bytes; of 8 bits 6000 and a norm of 4, or 24 scales of 256 elements
// (23.4); of 9 bits 54,000 bits, 1688 words (1687.5); of 2 bits 1500 and s; of 1 bit 188 words
// (187.5), with none, one or two scales.
TEST_CASE("a bucket of codes has their bits and their scales", "[plan]") {
  CHECK(merged("fp16").payload == Bytes{12'000});
  CHECK(merged("bf16").payload == Bytes{12'000});
  CHECK(merged("qsgd").payload == Bytes{6'000 + 4});
  CHECK(merged("int8").payload == Bytes{6'000 + 24 * 4});
  CHECK(merged("natural").payload == Bytes{4 * 1688});
  CHECK(merged("terngrad").payload == Bytes{1'500 + 4});
  CHECK(merged("signsgd").payload == Bytes{4 * 188});
  CHECK(merged("efsignsgd").payload == Bytes{4 * 188 + 4});
  CHECK(merged("onebit").payload == Bytes{4 * 188 + 8});
}

TEST_CASE("a framework that has no type of so few bits sends a code in whole bytes", "[plan]") {
  CHECK(merged("signsgd", 1).payload == Bytes{6'000});
  CHECK(merged("terngrad", 1).payload == Bytes{6'000 + 4});
  CHECK(merged("qsgd", 2).payload == Bytes{12'000 + 4});
}

TEST_CASE("casts are all-reduced, the others gathered", "[plan]") {
  CHECK(merged("fp16").collective->serves == Aggregation::AllReduce);
  CHECK(merged("qsgd").collective->serves == Aggregation::AllGather);
}

// Encode takes 6 ms and decode 3 ms of 6000 elements; the dense twin takes nothing.
TEST_CASE("a cast costs what the table says", "[plan]") {
  CHECK(merged("bf16").cost.encode.count() == Approx(6e-3));
  CHECK(merged("bf16").cost.decode.count() == Approx(3e-3));
}

// Three tensors: three norms of 4 bytes.
TEST_CASE("each tensor that is encoded by itself has its own scale", "[plan]") {
  Scenario scenario = toy::scenario("qsgd");
  scenario.fusion = parse_fusion("merged");
  scenario.selection = SelectionScope::PerTensor;
  CHECK(make_plan(scenario).buckets[0].payload == Bytes{6'000 + 3 * 4});
}

TEST_CASE("scales travel by themselves where there are two messages", "[plan]") {
  Scenario scenario = toy::scenario("qsgd");
  scenario.fusion = parse_fusion("merged");
  scenario.wire_messages = 2;
  std::vector<std::int64_t> sizes;
  for (const PlanStep& step : make_plan(scenario).steps)
    if (step.collective != nullptr) sizes.push_back(step.load.payload.count);
  CHECK(sizes == std::vector<std::int64_t>{4, 6000});
  scenario.compressor = find_compressor("signsgd");  // it has none
  scenario.costs.change().rows.clear();
  const Scenario others = toy::scenario("signsgd");
  for (CostRow row : others.costs->rows) scenario.costs.change().rows.push_back(row);
  sizes.clear();
  for (const PlanStep& step : make_plan(scenario).steps)
    if (step.collective != nullptr) sizes.push_back(step.load.payload.count);
  CHECK(sizes == std::vector<std::int64_t>{4 * 188});
}

// The sum of 2 ranks' multiples, -127 to 127 each, is one of 2 x 127 x 2 + 1 = 509 values: more
// than a byte holds, so 2 bytes. With 63 levels it is one of 253: a byte.
TEST_CASE("levels of a shared norm add up in an all-reduce, after one of the norm", "[plan]") {
  Scenario scenario = toy::scenario("qsgd");
  scenario.fusion = parse_fusion("merged");
  scenario.collective = &default_collective(Aggregation::AllReduce);
  const Plan plan = make_plan(scenario);
  CHECK(plan.buckets[0].payload == Bytes{12'000});
  CHECK(plan.buckets[0].first.at(0).load.payload == Bytes{4});
  const auto names = names_of(plan);
  CHECK(std::vector(names.begin() + 6, names.end()) ==
        std::vector<std::string>{"encode first bucket 0", "ring-all-reduce bucket 0",
                                 "encode bucket 0", "ring-all-reduce bucket 0", "decode bucket 0",
                                 "update"});
  scenario.parameter = 63;
  CHECK(make_plan(scenario).buckets[0].payload == Bytes{6'000});
}

// 2001 lanes of a byte are 501 words (500.25) of each tensor, and it has a norm of its own.
TEST_CASE("levels of each tensor fill whole words, as the kernels write them", "[plan]") {
  Scenario scenario = toy::scenario("qsgd");
  scenario.fusion = parse_fusion("merged");
  scenario.selection = SelectionScope::PerTensor;
  scenario.collective = &default_collective(Aggregation::AllReduce);
  scenario.parameter = 63;
  std::int64_t expected = 0;
  for (GradientTensor& tensor : scenario.model.change().tensors) {
    tensor.elements = 2001;
    tensor.shape = {2001};
    expected += 4 * 501;
  }
  const Plan plan = make_plan(scenario);
  CHECK(plan.buckets[0].payload == Bytes{expected});
  CHECK(plan.buckets[0].first.at(0).load.payload ==
        Bytes{4 * static_cast<std::int64_t>(scenario.model->tensors.size())});
}

// With overlap the first half of an encode goes as backward goes. A half that must wait for another
// rank waits until backward is over, unless it has a stream of its own.
TEST_CASE("two rounds overlap as far as their data allow", "[plan]") {
  Scenario scenario = toy::scenario("qsgd");
  scenario.fusion = parse_fusion("layer");
  scenario.overlap = true;
  scenario.collective = &default_collective(Aggregation::AllReduce);
  const auto place = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  const auto one = names_of(make_plan(scenario));
  CHECK(place(one, "encode first bucket 0") < place(one, "backward b"));
  CHECK(place(one, "encode bucket 0") > place(one, "backward a"));
  scenario.encode_stream = EncodeStream::Side;
  const auto side = names_of(make_plan(scenario));
  CHECK(place(side, "encode bucket 0") < place(side, "backward b"));
}

// Matrices of 20 x 50 and 2000 x 1 (a vector) and 50 x 60; rank 2. P: 20 x 2 and 50 x 2, 140
// numbers. Q: 50 x 2 and 60 x 2: 220.
TEST_CASE("PowerSGD sends what is no matrix, then P, then Q", "[plan]") {
  Scenario scenario = toy::scenario("powersgd");
  scenario.model.change().tensors[0].shape = {20, 50};
  scenario.model.change().tensors[1].shape = {2000};
  scenario.model.change().tensors[2].shape = {50, 60};
  scenario.fusion = parse_fusion("merged");
  const Plan plan = make_plan(scenario);
  const PlannedBucket& bucket = plan.buckets.at(0);
  REQUIRE(bucket.first.size() == 2);
  CHECK(bucket.first[0].load.payload == Bytes{4 * 2000});
  CHECK(bucket.first[1].load.payload == Bytes{4 * 140});
  CHECK(bucket.payload == Bytes{4 * 220});
  CHECK(bucket.selected == 2140 + 220);
  // Each waits for the one before it.
  const auto names = names_of(plan);
  CHECK(std::vector(names.begin() + 6, names.end()) ==
        std::vector<std::string>{"encode first bucket 0", "ring-all-reduce bucket 0",
                                 "ring-all-reduce bucket 0", "encode bucket 0",
                                 "ring-all-reduce bucket 0", "decode bucket 0", "update"});
  for (std::size_t step = 7; step < names.size(); ++step)
    CHECK(std::count(plan.steps[step].after.begin(), plan.steps[step].after.end(), step - 1) == 1);
  // Half of the 6 ms comes before the first all-reduce.
  CHECK(bucket.first_encode.count() == Approx(3e-3));
  CHECK(bucket.cost.encode.count() == Approx(3e-3));
}

TEST_CASE("PowerSGD in the paper's mode sends what is no matrix with P", "[plan]") {
  Scenario scenario = toy::scenario("powersgd");
  scenario.model.change().tensors[0].shape = {20, 50};
  scenario.model.change().tensors[1].shape = {2000};
  scenario.model.change().tensors[2].shape = {50, 60};
  scenario.fusion = parse_fusion("merged");
  scenario.mode = "paper";
  for (CostRow& row : scenario.costs.change().rows) row.mode = "paper";
  const PlannedBucket bucket = make_plan(scenario).buckets.at(0);
  REQUIRE(bucket.first.size() == 1);
  CHECK(bucket.first[0].load.payload == Bytes{4 * 2140});
}

// 2000 elements in one column: nothing to factor, one all-reduce of 8000 bytes, and no time.
TEST_CASE("a bucket without a matrix is sent as it is", "[plan]") {
  Scenario scenario = toy::scenario("powersgd");
  for (GradientTensor& tensor : scenario.model.change().tensors) tensor.shape = {tensor.elements};
  scenario.fusion = parse_fusion("layer");
  const PlannedBucket bucket = make_plan(scenario).buckets.at(1);
  CHECK(bucket.first.empty());
  CHECK(bucket.payload == Bytes{8'000});
  CHECK(bucket.cost.encode == Seconds{0});
}

// Bucket 1 (b) is a vector and has nothing to agree on. The first all-reduces of the others end at
// different times; nobody's second encoding begins before the last of them.
TEST_CASE("without overlap all that must be agreed on comes before what needs it", "[plan]") {
  Scenario scenario = toy::scenario("powersgd");
  scenario.model.change().tensors[0].shape = {20, 50};
  scenario.model.change().tensors[1].shape = {2000};
  scenario.model.change().tensors[2].shape = {50, 60};
  scenario.fusion = parse_fusion("layer");
  const Plan plan = make_plan(scenario);
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].collective != nullptr && firsts.size() < 2) firsts.push_back(i);
  int encodes = 0;
  for (const PlanStep& step : plan.steps) {
    if (!step.name.starts_with("encode bucket")) continue;
    ++encodes;
    for (const std::size_t first : firsts)
      CHECK(std::find(step.after.begin(), step.after.end(), first) != step.after.end());
  }
  CHECK(encodes == 3);
}
