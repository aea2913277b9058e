#include "sim/inputs/cost_table.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::string kHeader =
    "compressor,mode,implementation,tensors,elements,density,workers,distribution,selected,"
    "encode_seconds,encode_p95_seconds,decode_seconds,decode_p95_seconds,samples,evidence\n";

CostTable table(const std::string& rows) {
  return load_cost_table(TextFile{"traces/cost-x.csv", kHeader + rows});
}

/// Top-k: encode 1 us at 1000 elements, 100 us at 100,000; density and workers as told.
std::string row(const char* compressor, const char* mode, int elements, double density, int workers,
                double encode, double decode, double selected) {
  return std::string(compressor) + "," + mode + ",torch,1," + std::to_string(elements) + "," +
         std::to_string(density) + "," + std::to_string(workers) + ",normal," +
         std::to_string(selected) + "," + std::to_string(encode) + "," + std::to_string(encode) +
         "," + std::to_string(decode) + "," + std::to_string(decode) + ",0,derived\n";
}

const std::string kTwoSizes =
    row("topk", "", 1000, 0.01, 1, 1, 2, 10) + row("topk", "", 100'000, 0.01, 1, 100, 200, 1000);

}  // namespace

TEST_CASE("a point of the table is returned as it stands", "[cost_table]") {
  const CostEstimate at =
      table(kTwoSizes).estimate({.compressor = "topk", .elements = 1000, .density = 0.01});
  CHECK(at.encode == Seconds{1});
  CHECK(at.decode == Seconds{2});
  CHECK(at.selected == 10);
  CHECK(at.evidence == "derived");
  CHECK(at.implementation == "torch");
  CHECK(at.outside.empty());
  CHECK_FALSE(at.interpolated);
}

TEST_CASE("a table may say how far its times may be off, and keeps it when it is written",
          "[cost_table]") {
  std::string header = kHeader;
  header.replace(header.size() - 1, 1, ",low_factor,high_factor\n");
  const auto with = [&](const std::string& factors) {
    std::string line = row("topk", "", 1000, 0.01, 1, 1, 2, 10);
    line.replace(line.size() - 1, 1, "," + factors + "\n");
    return TextFile{"traces/cost-x.csv", header + line};
  };
  const CostTable read = load_cost_table(with("0.7,2"));
  CHECK(read.rows[0].factors == CostFactors{0.7, 2});
  CHECK(read.estimate({.compressor = "topk", .elements = 1000, .density = 0.01}).factors ==
        CostFactors{0.7, 2});
  const CostTable again = load_cost_table({"again.csv", cost_table_csv(read, {})});
  CHECK(again.rows[0].factors == read.rows[0].factors);
  CHECK_FALSE(load_cost_table(with(",")).rows[0].factors.said());
  CHECK_FALSE(table(kTwoSizes).rows[0].factors.said());
  CHECK_THROWS_WITH(load_cost_table(with("1.1,2")), Contains("column 'low_factor'"));
  CHECK_THROWS_WITH(load_cost_table(with("1,0.9")), Contains("column 'high_factor'"));
}

TEST_CASE("an answer is as far off as the rows of the sizes around it", "[cost_table]") {
  CostTable read = table(kTwoSizes + row("topk", "", 10'000'000, 0.01, 1, 10'000, 2, 10));
  read.rows[0].factors = {0.2, 9};
  read.rows[1].factors = {0.5, 3};
  read.rows[2].factors = {0.7, 2};
  const auto at = [&](std::int64_t elements) {
    return read.estimate({.compressor = "topk", .elements = elements, .density = 0.01}).factors;
  };
  CHECK(at(10) == CostFactors{0.2, 9});
  CHECK(at(1000) == CostFactors{0.2, 9});
  CHECK(at(1001) == CostFactors{0.2, 9});
  CHECK(at(100'000) == CostFactors{0.5, 3});
  CHECK(at(100'001) == CostFactors{0.5, 3});
  CHECK(at(10'000'000) == CostFactors{0.7, 2});
}

// 1 s of 0.2 to 9 times and 3 s of 0.6 to 1 times: together 2 s to 12 s of 4.
TEST_CASE("times that are off alike have the mean of their factors, weighted by time",
          "[cost_table]") {
  TogetherFactors all;
  CHECK(all.factors() == CostFactors{});
  all.add({0.2, 9}, Seconds{1});
  CHECK(all.factors() == CostFactors{0.2, 9});
  all.add({0.6, 1}, Seconds{3});
  CHECK(all.factors().low == Approx(0.5));
  CHECK(all.factors().high == Approx(3));
}

TEST_CASE("a call may be of 8 G elements, and of no more", "[cost_table]") {
  const auto of = [](const char* elements) {
    return table("topk,,torch,1," + std::string(elements) +
                 ",0.01,1,normal,10,1,1,1,1,0,derived\n");
  };
  CHECK(of("8589934592").rows[0].elements == kMostCostElements);
  CHECK_THROWS_WITH(of("8589934593"), Contains("column 'elements'"));
}

// A call takes 5 s at the least. Above that are 1 s at 1000 elements and 100 s at 100,000: halfway
// in the logarithm, at 10,000, 10 s.
TEST_CASE("between sizes the logarithm of what is above a launch is linear", "[cost_table]") {
  const CostTable costs =
      table(row("topk", "", 16, 0.01, 1, 5, 5, 1) + row("topk", "", 1000, 0.01, 1, 6, 6, 10) +
            row("topk", "", 100'000, 0.01, 1, 105, 105, 1000));
  const CostEstimate at =
      costs.estimate({.compressor = "topk", .elements = 10'000, .density = 0.01});
  CHECK(at.encode.count() == Approx(15));
  CHECK(at.decode.count() == Approx(15));
  CHECK(at.selected == 100);
  CHECK(at.interpolated);
  CHECK(at.outside.empty());
}

// From 1 s at 1000 elements to 100 s at 100,000 it is 1 ms an element.
TEST_CASE("where a line leaves its least time it grows in proportion", "[cost_table]") {
  const CostEstimate at =
      table(kTwoSizes).estimate({.compressor = "topk", .elements = 10'000, .density = 0.01});
  CHECK(at.encode.count() == Approx(10));
  CHECK(at.decode.count() == Approx(20));
  CHECK(at.selected == 100);
}

TEST_CASE("where launches are all that it takes, sizes do not matter", "[cost_table]") {
  const CostTable costs =
      table(row("topk", "", 16, 0.01, 1, 5, 5, 1) + row("topk", "", 1000, 0.01, 1, 5, 5, 10) +
            row("topk", "", 100'000, 0.01, 1, 105, 105, 1000));
  for (const std::int64_t elements : {1, 16, 17, 999})
    CHECK(costs.estimate({.compressor = "topk", .elements = elements, .density = 0.01}).encode ==
          Seconds{5});
}

TEST_CASE("below the smallest size nothing gets cheaper, for launches stay, and it is said",
          "[cost_table]") {
  const CostEstimate at =
      table(kTwoSizes).estimate({.compressor = "topk", .elements = 10, .density = 0.01});
  CHECK(at.encode == Seconds{1});
  CHECK(at.selected == 1);
  CHECK_THAT(at.outside, Contains("elements 10 outside 1000..100000"));
}

TEST_CASE("beyond the sizes of the table times go on in proportion, and it is said",
          "[cost_table]") {
  const CostEstimate at =
      table(kTwoSizes).estimate({.compressor = "topk", .elements = 1'000'000, .density = 0.01});
  CHECK(at.encode.count() == Approx(1000));
  CHECK_THAT(at.outside, Contains("elements 1000000 outside 1000..100000"));
}

TEST_CASE("what is beyond a table by more than a factor of 3 is no answer, but small sizes are",
          "[cost_table]") {
  const auto far = [](std::int64_t elements, double density) {
    return table(kTwoSizes)
        .estimate({.compressor = "topk", .elements = elements, .density = density})
        .far_outside;
  };
  CHECK(far(300'000, 0.01).empty());  // three times 100,000
  CHECK(far(300'001, 0.01) == "a size of 300001 is more than 3 times above the table's 100000");
  CHECK(far(1, 0.01).empty());  // as long as the smallest: nobody is misled
  CHECK(far(1000, 0.03).empty());
  CHECK(far(1000, 0.031) == "density 0.031 is more than 3 times above the table's 0.01");
  CHECK(far(1000, 0.003) == "density 0.003 is more than 3 times below the table's 0.01");
}

TEST_CASE("one density says nothing of others, and it is said", "[cost_table]") {
  const CostEstimate at =
      table(kTwoSizes).estimate({.compressor = "topk", .elements = 1000, .density = 0.1});
  CHECK(at.encode.count() == 1);
  CHECK(at.selected == 100);  // the share of k stays, k is another
  CHECK_THAT(at.outside, Contains("density 0.1 outside 0.01..0.01"));
}

// 1 worker 2 s, 5 workers 10 s: 2 s a worker, so 3 workers 6 s and 10 workers 20 s.
TEST_CASE("decode is linear in the workers", "[cost_table]") {
  const CostTable costs =
      table(row("topk", "", 1000, 0.01, 1, 1, 2, 10) + row("topk", "", 1000, 0.01, 5, 1, 10, 10));
  const auto decode = [&](int workers) {
    return costs
        .estimate({.compressor = "topk", .elements = 1000, .density = 0.01, .workers = workers})
        .decode.count();
  };
  CHECK(decode(3) == Approx(6));
  CHECK(decode(10) == Approx(20));
}

// Above the least, 5 s, are 1 s at 0.001 and 4 s at 0.1: halfway in the logarithm, at 0.01, 2 s.
// k at 0.001 and 0.1 of 1000 are 1 and 100.
TEST_CASE("between densities the logarithm of what is above a launch is linear", "[cost_table]") {
  const CostTable costs =
      table(row("topk", "", 1000, 0.0001, 1, 5, 1, 1) + row("topk", "", 1000, 0.001, 1, 6, 1, 1) +
            row("topk", "", 1000, 0.1, 1, 9, 1, 200));
  const CostEstimate at = costs.estimate({.compressor = "topk", .elements = 1000, .density = 0.01});
  CHECK(at.encode.count() == Approx(7));
  CHECK(at.selected == 15);  // 1 x k at the one, 2 x k at the other: 1.5 x 10
}

TEST_CASE("of two modes the one that really ran is taken, unless the other is asked for",
          "[cost_table]") {
  const CostTable costs = table(row("dgc", "paper", 1000, 0.01, 1, 1, 1, 10) +
                                row("dgc", "code", 1000, 0.01, 1, 7, 1, 10));
  const CostQuery query{.compressor = "dgc", .elements = 1000, .density = 0.01};
  CHECK(costs.estimate(query).mode == "code");
  CHECK(costs.estimate(query).encode == Seconds{7});
  CostQuery paper = query;
  paper.mode = "paper";
  CHECK(costs.estimate(paper).encode == Seconds{1});
}

// Top-k was published at one density and derived at another.
TEST_CASE("evidence is that of the densities an estimate is made from", "[cost_table]") {
  std::string published = row("topk", "", 1000, 0.001, 1, 1, 1, 1);
  published.replace(published.find("derived"), 7, "published");
  const CostTable costs = table(published + row("topk", "", 1000, 0.1, 1, 4, 1, 100));
  const auto evidence = [&](double density) {
    return costs.estimate({.compressor = "topk", .elements = 1000, .density = density}).evidence;
  };
  CHECK(evidence(0.001) == "published");
  CHECK(evidence(0.1) == "derived");
  CHECK(evidence(0.005) == "published+derived");
}

// Decode 1 s at density 0.01 and 10 s at 0.1: 100 s at 1. The share of k stays.
TEST_CASE("beyond the densities of the table times go on in proportion, and it is said",
          "[cost_table]") {
  const CostTable costs =
      table(row("topk", "", 1000, 0.01, 1, 1, 1, 10) + row("topk", "", 1000, 0.1, 1, 1, 10, 100));
  const CostEstimate at = costs.estimate({.compressor = "topk", .elements = 1000, .density = 1});
  CHECK(at.decode.count() == Approx(100));
  CHECK(at.selected == 1000);
  CHECK_THAT(at.outside, Contains("density 1 outside 0.01..0.1"));
}

TEST_CASE("beyond the table more work never takes less time", "[cost_table]") {
  // Noise: the larger of two neighbours took less.
  const CostTable costs = table(row("topk", "", 1000, 0.01, 1, 1.1, 2, 10) +
                                row("topk", "", 1050, 0.01, 1, 1.0, 2, 10));
  CHECK(costs.estimate({.compressor = "topk", .elements = 100'000, .density = 0.01}).encode ==
        Seconds{1});
}

// 1 s at 1000 elements, 2.0 s at 2000, and noise that made 1999 take 1.9 s: 4000 take 4 s, not the
// 202 s of a line through the last two.
TEST_CASE("two near points do not steer what is beyond the table", "[cost_table]") {
  const CostTable costs =
      table(row("topk", "", 1000, 0.01, 1, 1, 1, 10) + row("topk", "", 1999, 0.01, 1, 1.9, 1, 19) +
            row("topk", "", 2000, 0.01, 1, 2, 1, 20));
  CHECK(costs.estimate({.compressor = "topk", .elements = 4000, .density = 0.01}).encode.count() ==
        Approx(4));
}

// 4000 elements were to be measured with 16 workers too when the calibration was interrupted.
TEST_CASE("a last size that was left half done is left out, and it is said", "[cost_table]") {
  std::string rows;
  for (const int elements : {1000, 2000})
    for (const int workers : {1, 16})
      rows += row("topk", "", elements, 0.01, workers, elements / 1000, workers, elements / 100);
  const CostTable costs = table(rows + row("topk", "", 4000, 0.01, 1, 4, 1, 40));
  const CostEstimate at =
      costs.estimate({.compressor = "topk", .elements = 4000, .density = 0.01, .workers = 16});
  CHECK(at.encode.count() == Approx(4));
  CHECK(at.decode.count() == Approx(16));
  CHECK_THAT(at.outside, Contains("elements 4000 outside 1000..2000"));
}

TEST_CASE("sizes may have more densities than others; a range is that of the densities used",
          "[cost_table]") {
  const CostTable costs =
      table(row("topk", "", 1000, 0.001, 1, 1, 1, 1) + row("topk", "", 1000, 0.01, 1, 1, 1, 10) +
            row("topk", "", 2000, 0.001, 1, 2, 1, 2) + row("topk", "", 2000, 0.01, 1, 2, 1, 20) +
            row("topk", "", 4000, 0.001, 1, 4, 1, 4));
  const auto at = [&](double density) {
    return costs.estimate({.compressor = "topk", .elements = 4000, .density = density});
  };
  CHECK(at(0.001).outside.empty());
  CHECK_THAT(at(0.005).outside, Contains("elements 4000 outside 1000..2000"));
  CHECK_THAT(at(0.01).outside, Contains("elements 4000 outside 1000..2000"));
  CHECK(at(0.01).encode.count() == Approx(4));
}

TEST_CASE("a table with holes is refused, not bridged", "[cost_table]") {
  const CostTable costs =
      table(row("topk", "", 1000, 0.01, 1, 1, 1, 10) + row("topk", "", 2000, 0.01, 16, 1, 16, 20));
  CHECK_THROWS_WITH(costs.estimate({.compressor = "topk", .elements = 1500, .density = 0.01}),
                    Contains("1000 elements have no row of 16 workers, as others have"));
}

// Shares 1 and 2 at 1000 and 10,000 elements: at 100,000 still 2 x k, not 3.
TEST_CASE("a share of k does not go on beyond the table", "[cost_table]") {
  const CostTable costs =
      table(row("topk", "", 1000, 0.01, 1, 1, 1, 10) + row("topk", "", 10'000, 0.01, 1, 1, 1, 200));
  CHECK(costs.estimate({.compressor = "topk", .elements = 100'000, .density = 0.01}).selected ==
        2000);
}

TEST_CASE("the project's own kernels are preferred, and rows of many tensors left alone",
          "[cost_table]") {
  std::string own = row("topk", "", 1000, 0.01, 1, 3, 1, 10);
  own.replace(own.find("torch"), 5, "gradcast-cuda");
  std::string whole_model = row("topk", "", 1000, 0.01, 1, 9, 1, 10);
  whole_model.replace(whole_model.find("torch,1"), 7, "gradcast-cuda,161");
  const CostEstimate at = table(row("topk", "", 1000, 0.01, 1, 7, 1, 10) + own + whole_model)
                              .estimate({.compressor = "topk", .elements = 1000, .density = 0.01});
  CHECK(at.implementation == "gradcast-cuda");
  CHECK(at.encode == Seconds{3});
}

TEST_CASE("kernels are those that are asked for, where the table has them", "[cost_table]") {
  std::string own = row("topk", "", 1000, 0.01, 1, 3, 1, 10);
  own.replace(own.find("torch"), 5, "gradcast-cuda");
  const CostTable costs = table(own + row("topk", "", 1000, 0.01, 1, 7, 1, 10));
  CostQuery query{.compressor = "topk", .elements = 1000, .density = 0.01};
  CHECK(costs.estimate(query).encode == Seconds{3});
  query.implementation = "torch";
  CHECK(costs.estimate(query).encode == Seconds{7});
  CHECK(costs.estimate(query).implementation == "torch");
  query.implementation = "cub";
  CHECK_THROWS_WITH(costs.estimate(query), Contains("no costs of compressor 'topk' in "
                                                    "implementation 'cub' (it has "
                                                    "'gradcast-cuda', 'torch')"));
}

TEST_CASE("more workers than the table has are said", "[cost_table]") {
  CHECK_THAT(table(kTwoSizes)
                 .estimate({.compressor = "topk", .elements = 1000, .density = 0.01, .workers = 9})
                 .outside,
             Contains("workers 9 outside 1..1"));
}

TEST_CASE("what the table does not know is said, with what it does know", "[cost_table]") {
  const CostTable costs = table(kTwoSizes);
  CHECK_THROWS_WITH(costs.estimate({.compressor = "rtopk", .elements = 1, .density = 1}),
                    Contains("no costs of compressor 'rtopk' (it has 'topk')"));
  CHECK_THROWS_WITH(
      costs.estimate({.compressor = "topk", .mode = "paper", .elements = 1, .density = 1}),
      Contains("in mode 'paper'"));
  CHECK_THROWS_WITH(
      costs.estimate({.compressor = "topk", .elements = 1, .density = 1, .distribution = "cauchy"}),
      Contains("on 'cauchy' input (it has 'normal')"));
}

TEST_CASE("a selection never exceeds the elements and is never empty", "[cost_table]") {
  const CostTable costs = table(row("trimmed", "", 1000, 0.01, 1, 1, 1, 900));
  CHECK(costs.estimate({.compressor = "trimmed", .elements = 1000, .density = 1}).selected == 1000);
  CHECK(costs.estimate({.compressor = "trimmed", .elements = 1, .density = 0.01}).selected == 1);
}

TEST_CASE("wrong rows are refused with their line", "[cost_table]") {
  const std::string good = row("topk", "", 1000, 0.01, 1, 1, 2, 10);
  const auto refused = [&](const std::string& from, const std::string& to, const char* why) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    CHECK_THROWS_WITH(table(good + bad), Contains("traces/cost-x.csv:3: ") && Contains(why));
  };
  refused("topk,,", "topk,fast,", "'fast' is not 'paper' or 'code'");
  refused("topk", "topk", "stands twice");
  refused("1.000000,", "-1.000000,", "encode_seconds");
  refused("1.000000,", "nan,", "encode_seconds");
  refused("0.010000", "0", "density");
  refused("0.010000", "2", "density");
  refused("derived", "guessed",
          "'guessed' is not 'measured', 'simulated', 'published' or 'derived'");
  CHECK_THROWS_WITH(table(""), Contains("no rows"));
}

TEST_CASE("a table is written as it was read", "[cost_table]") {
  const CostTable costs = table(kTwoSizes);
  const std::string text = cost_table_csv(costs, {"a note"});
  CHECK_THAT(text, Catch::StartsWith("# a note\n" + kHeader));
  CHECK(cost_table_csv(load_cost_table(TextFile{"traces/cost-x.csv", text}), {"a note"}) == text);
}

TEST_CASE("k is truncated, at least 1, and what a person wrote stays whole", "[cost_table]") {
  CHECK(wanted_elements(25'557'032, 0.001) == 25'557);  // 25557.032
  CHECK(wanted_elements(1999, 0.001) == 1);             // 1.999
  CHECK(wanted_elements(10, 0.001) == 1);
  CHECK(wanted_elements(10, 1) == 10);
  for (int thousand = 1; thousand <= 100;
       ++thousand)  // 7 x 0.001 is 0.007000000000000001 in doubles
    CHECK(wanted_elements(1000LL * thousand, 0.007) == 7LL * thousand);
}

TEST_CASE("no correction is one by default", "[cost_table]") {
  const CodecWork work{1000, 2, 3, 4};
  CHECK(corrected_encode(Seconds{3}, work, {}) == Seconds{3});
  CHECK(corrected_decode(Seconds{3}, work, {}) == Seconds{3});
}
