// Several tensors at a time; one at a time is cost_table_test.cpp.
#include "sim/inputs/compressor_costs.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;

namespace {

CostRow row(int tensors, std::int64_t elements, double density, double seconds, double selected) {
  CostRow row;
  row.compressor = "topk";
  row.implementation = "gradcast-cuda";
  row.tensors = tensors;
  row.elements = elements;
  row.density = density;
  row.distribution = "normal";
  row.selected = selected;
  row.encode = Seconds{seconds};
  row.decode = Seconds{seconds / 2};
  row.evidence = "measured";
  return row;
}

/// One tensor: 1 ms an element.
const std::vector<CostRow> kOneByOne{row(1, 10, 0.01, 0.01, 1), row(1, 100'000, 0.01, 100, 1000)};

CompressorCosts costs(std::vector<CostRow> more = {}) {
  more.insert(more.begin(), kOneByOne.begin(), kOneByOne.end());
  return CompressorCosts(CostTable{"costs", more}, {.compressor = "topk"});
}

}  // namespace

TEST_CASE("tensors that the table has in one call are charged one call", "[compressor_costs]") {
  const CostEstimate at = costs({row(3, 6000, 0.01, 0.5, 60)}).of_each({1000, 2000, 3000}, 0.01, 1);
  CHECK(at.encode == Seconds{0.5});
  CHECK(at.decode == Seconds{0.25});
  CHECK(at.selected == 60);
  CHECK(at.calls == 1);
  CHECK(at.evidence == "measured");
  CHECK_FALSE(at.interpolated);
}

// 1 ms an element: 1 s + 2 s + 3 s.
TEST_CASE("tensors that the table lacks in one call are charged a call each",
          "[compressor_costs]") {
  for (const CostRow& other : {row(2, 6000, 0.01, 0.5, 60), row(3, 6001, 0.01, 0.5, 60)}) {
    const CostEstimate at = costs({other}).of_each({1000, 2000, 3000}, 0.01, 1);
    CHECK(at.encode.count() == Approx(6));
    CHECK(at.decode.count() == Approx(3));
    CHECK(at.selected == 10 + 20 + 30);
    CHECK(at.calls == 3);
    CHECK(at.evidence == "measured");
    CHECK(at.interpolated);
    CHECK(at.implementation == "gradcast-cuda");
  }
}

// At 0.01 k is at least 1 of each: 1 + 1 + 9 = 11, where one selection of 1000 has 10. At 0.1 it is
// 5 + 5 + 90 = 100.
TEST_CASE("k is that of each tensor", "[compressor_costs]") {
  const CompressorCosts whole = costs({row(3, 1000, 0.01, 0.5, 11)});
  CHECK(whole.of_each({50, 50, 900}, 0.01, 1).selected == 11);
  CHECK(whole.of_each({50, 50, 900}, 0.1, 1).selected == 100);
  CHECK_THAT(whole.of_each({50, 50, 900}, 0.1, 1).outside, Catch::Contains("density 0.1 outside"));
  CHECK(costs().of_each({50, 50, 900}, 0.01, 1).selected == 11);
  CHECK(costs().of(1000, 0.01, 1).selected == 10);
}

TEST_CASE("of one tensor, each is all", "[compressor_costs]") {
  const CostEstimate each = costs().of_each({5000}, 0.01, 1);
  CHECK(each.encode == costs().of(5000, 0.01, 1).encode);
  CHECK(each.calls == 1);
}

TEST_CASE("a scope of selection is read as it is written", "[compressor_costs]") {
  for (const SelectionScope scope : {SelectionScope::Merged, SelectionScope::PerTensor})
    CHECK(parse_selection(to_text(scope)) == scope);
  CHECK_THROWS_WITH(parse_selection("layer"), "'layer' is not 'merged' or 'per-tensor'");
}

TEST_CASE("costs know the type of the gradients that they read", "[costs]") {
  const auto row = [](NumberType type, double seconds, std::int64_t elements) {
    CostRow made{.compressor = "topk",
                 .mode = "",
                 .implementation = "toy",
                 .tensors = 1,
                 .elements = elements,
                 .density = 0.01,
                 .workers = 1,
                 .distribution = "normal",
                 .selected = 1,
                 .encode = Seconds{seconds},
                 .evidence = "derived"};
    made.input_type = type;
    return made;
  };
  CostTable table{"toy", {row(NumberType::Fp32, 0.004, 100), row(NumberType::Bf16, 0.002, 100)}};
  const auto encode = [&](NumberType type) {
    return CompressorCosts(table, {.compressor = "topk", .input_type = type}).of(100, 0.01, 1);
  };
  CHECK(encode(NumberType::Fp32).encode == Seconds{0.004});
  CHECK(encode(NumberType::Bf16).encode == Seconds{0.002});
  CHECK(encode(NumberType::Bf16).outside.empty());
  // fp16 is in no row: fp32 answers, and says so.
  CHECK(encode(NumberType::Fp16).encode == Seconds{0.004});
  CHECK(encode(NumberType::Fp16).outside == "input fp16, and its costs are of fp32");
  CHECK(load_cost_table({"toy", cost_table_csv(table, {})}).rows[1].input_type == NumberType::Bf16);
}

namespace {

CostRow of_density(double density, double decode, double selected) {
  CostRow made = row(1, 1000, density, 1, selected);
  made.decode = Seconds{decode};
  return made;
}

/// 1000 elements at densities 0.01 and 0.04; the table's inputs let k pass at both.
CompressorCosts two_densities() {
  return CompressorCosts(CostTable{"costs", {of_density(0.01, 3, 10), of_density(0.04, 9, 40)}},
                         {.compressor = "topk"});
}

}  // namespace

// k = 40, of which a quarter is sent: 10 elements, as the table has them at density 0.01.
TEST_CASE("what is really sent travels and is decoded; encoding looks for k",
          "[compressor_costs]") {
  const CostEstimate all = two_densities().of(1000, 0.04, 1);
  const CostEstimate quarter = two_densities().of(1000, 0.04, 1, 0.25);
  CHECK(all.selected == 40);
  CHECK(quarter.selected == 10);
  CHECK(quarter.encode == all.encode);
  CHECK(quarter.decode.count() == Approx(3));
  CHECK(quarter.outside.empty());
  const CostEstimate whole = two_densities().of(1000, 0.04, 1, 1.0);
  CHECK(whole.decode == all.decode);
  CHECK(whole.selected == 40);
}

// A tenth of density 0.01 is 0.001, which the table does not have: 3 s is its least.
TEST_CASE("decoding is not extrapolated to what was sent, and that is said", "[compressor_costs]") {
  const CostEstimate little = two_densities().of(1000, 0.01, 1, 0.1);
  CHECK(little.selected == 1);
  CHECK(little.decode == Seconds{3});
  CHECK(little.outside == "decode as at density 0.01, and what is sent is that of 0.001");
  const CostEstimate much = two_densities().of(1000, 0.04, 1, 100.0);
  CHECK(much.selected == 1000);  // there are no more
  CHECK(much.decode == Seconds{9});
}

TEST_CASE("sent shares of several tensors add up, a call each", "[compressor_costs]") {
  // Halves of 10, 20 and 30.
  CHECK(costs().of_each({1000, 2000, 3000}, 0.01, 1, 0.5).selected == 5 + 10 + 15);
  // One call: half of 60.
  CHECK(costs({row(3, 6000, 0.01, 0.5, 60)}).of_each({1000, 2000, 3000}, 0.01, 1, 0.5).selected ==
        30);
}

TEST_CASE("a table of nothing but a recorded vector answers with that", "[compressor_costs]") {
  CostRow recorded = row(1, 1000, 0.01, 0.5, 4);
  recorded.distribution = "u-200.npy";
  CHECK(CompressorCosts(CostTable{"costs", {recorded}}, {.compressor = "topk"})
            .of(1000, 0.01, 1)
            .selected == 4);
  CHECK(costs({recorded}).of(1000, 0.01, 1).selected == 10);  // normal elements, where there are
  recorded.distribution = "laplace";
  CHECK_THROWS_WITH(CompressorCosts(CostTable{"costs", {recorded}}, {.compressor = "topk"}),
                    Catch::Contains("on 'normal' input (it has 'laplace')"));
}

namespace {

/// Rank 4, as a probe times PyTorch's hook: 33 ms to encode and 25 ms to decode.
CostRow low_rank_row(std::int64_t elements, double parameter = 4) {
  CostRow row;
  row.compressor = "powersgd";
  row.implementation = "torch";
  row.elements = elements;
  row.density = 1;
  row.distribution = "normal";
  row.selected = static_cast<double>(elements);
  row.encode = Seconds{0.033};
  row.decode = Seconds{0.025};
  row.evidence = "measured";
  row.parameter = parameter;
  return row;
}

CompressorCosts low_rank_costs(const std::vector<CostRow>& rows, double rank) {
  return CompressorCosts(CostTable{"costs", rows}, {.compressor = "powersgd", .parameter = rank});
}

}  // namespace

TEST_CASE("low rank at one size costs buckets in proportion to their elements",
          "[compressor_costs]") {
  const CompressorCosts costs = low_rank_costs({low_rank_row(6'600'000)}, 4);
  // A third of the elements: 33 ms / 3, 25 ms / 3.
  const CostEstimate third = costs.of(2'200'000, 1, 1);
  CHECK(third.encode.count() == Approx(0.011));
  CHECK(third.decode.count() == Approx(0.025 / 3));
  CHECK(third.outside == "elements 2200000 outside 6600000..6600000");
  CHECK_FALSE(third.factors.said());
  // The two buckets of a model cost together what it costs in one.
  const CostEstimate rest = costs.of(4'400'000, 1, 1);
  CHECK((third.encode + rest.encode).count() == Approx(0.033));
  CHECK((third.decode + rest.decode).count() == Approx(0.025));
  // So do its tensors, one by one.
  const CostEstimate each = costs.of_each({2'000'000, 200'000, 4'400'000}, 1, 1);
  CHECK(each.encode.count() == Approx(0.033));
  CHECK(costs.of(13'200'000, 1, 1).encode.count() == Approx(0.066));
  CHECK(costs.of(6'600'000, 1, 1).outside.empty());
}

TEST_CASE("low rank at several sizes keeps the least time of a call", "[compressor_costs]") {
  const CompressorCosts costs =
      low_rank_costs({low_rank_row(3'300'000), low_rank_row(6'600'000)}, 4);
  CHECK(costs.of(330'000, 1, 1).encode == Seconds{0.033});
}

TEST_CASE("another rank is as dear as the rank of the table, or in proportion to it",
          "[compressor_costs]") {
  const std::vector<CostRow> rows{low_rank_row(6'600'000)};
  const CostEstimate half = low_rank_costs(rows, 2).of(6'600'000, 1, 1);
  CHECK(half.encode == Seconds{0.033});
  CHECK(half.factors == CostFactors{0.5, 1});
  CHECK(half.outside == "parameter 2, and its costs are of 4");
  CHECK(low_rank_costs(rows, 8).of(6'600'000, 1, 1).factors == CostFactors{1, 2});
  CHECK_FALSE(low_rank_costs(rows, 4).of(6'600'000, 1, 1).factors.said());
  // A table that names no rank serves any.
  CHECK_FALSE(low_rank_costs({low_rank_row(6'600'000, 0)}, 8).of(6'600'000, 1, 1).factors.said());
}

TEST_CASE("another rank lies on the line through the two ranks beside it", "[compressor_costs]") {
  CostRow rank_8 = low_rank_row(6'600'000, 8);  // 33 and 25 ms
  CostRow rank_32 = low_rank_row(6'600'000, 32);
  rank_32.encode = Seconds{0.057};
  rank_32.decode = Seconds{0.037};
  const auto at = [&](double rank) {
    return low_rank_costs({rank_8, rank_32}, rank).of(6'600'000, 1, 1);
  };
  // A third of the way: 33 + 24 / 3, 25 + 12 / 3; both together 70 ms, between 58 and 94.
  const CostEstimate between = at(16);
  CHECK(between.encode.count() == Approx(0.041));
  CHECK(between.decode.count() == Approx(0.029));
  CHECK(between.factors.low == Approx(58.0 / 70));
  CHECK(between.factors.high == Approx(94.0 / 70));
  CHECK(between.outside == "parameter 16, and its costs are of 8 and 32");
  // 1 ms a rank to encode, half to decode: 89 and 53 ms. At most twice those of 32: 188 ms.
  const CostEstimate beyond = at(64);
  CHECK(beyond.encode.count() == Approx(0.089));
  CHECK(beyond.decode.count() == Approx(0.053));
  CHECK(beyond.factors.low == Approx(94.0 / 142));
  CHECK(beyond.factors.high == Approx(188.0 / 142));
  CHECK(beyond.outside == "parameter 64, and its costs are of 32 and 8");
  // The line has 25 ms at 0 and 1 ms a rank: rank 4 takes 29 and 23 ms, at least half of rank
  // 8's 58.
  CHECK(at(4).encode.count() == Approx(0.029));
  CHECK(at(4).factors.low == Approx(29.0 / 52));
  CHECK_FALSE(at(8).factors.said());
  CHECK(at(8).encode == Seconds{0.033});
}

TEST_CASE("noise makes no rank beyond the table's cheaper than its last", "[compressor_costs]") {
  CostRow rank_4 = low_rank_row(6'600'000, 4);
  rank_4.encode = Seconds{0.032};  // 33 ms at rank 2
  const CostEstimate larger =
      low_rank_costs({low_rank_row(6'600'000, 2), rank_4}, 16).of(6'600'000, 1, 1);
  CHECK(larger.encode == Seconds{0.032});
}

TEST_CASE("the line through two ranks has what is said of both", "[compressor_costs]") {
  CostRow rank_8 = low_rank_row(6'600'000, 8);  // 33 and 25 ms, 58 together
  CostRow rank_32 = low_rank_row(6'600'000, 32);
  rank_32.encode = Seconds{0.057};
  rank_32.decode = Seconds{0.037};
  rank_32.evidence = "derived";
  rank_8.factors = {0.9, 1.5};
  rank_32.factors = {0.5, 2};
  const CostEstimate at_16 = low_rank_costs({rank_8, rank_32}, 16).of(6'600'000, 1, 1);
  // 70 ms: between 94 ms x 0.5, which is less than 58 x 0.9, and 94 x 2.
  CHECK(at_16.factors.low == Approx(47.0 / 70));
  CHECK(at_16.factors.high == Approx(188.0 / 70));
  CHECK(at_16.evidence == "measured+derived");
}

TEST_CASE("calls of several tensors make no line with calls of one", "[compressor_costs]") {
  CostRow one_8 = low_rank_row(6'600'000, 8);
  CostRow one_32 = low_rank_row(6'600'000, 32);
  CostRow both_8 = low_rank_row(13'200'000, 8);
  both_8.tensors = 2;
  both_8.encode = Seconds{0.040};
  const CostEstimate at_16 =
      low_rank_costs({one_8, one_32, both_8}, 16).of_each({6'600'000, 6'600'000}, 1, 1);
  CHECK(at_16.encode == Seconds{0.040});
  CHECK(at_16.factors == CostFactors{1, 2});
}
