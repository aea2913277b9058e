// Against which dense run a compressor is held: `--against`, and `--fusion best`.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/run_program.hpp"

using Catch::Contains;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

const Words kRun = {"--model=resnet-50", "--nodes=4",     "--nic-bandwidth=10Gbps",
                    "--engine=analytic", "--format=json", "-q"};

json answer(const std::string& command, Words more) {
  more.insert(more.begin(), command);
  more.insert(more.end(), kRun.begin(), kRun.end());
  const Ran ran = gradcast_with(more);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return json::parse(ran.out);
}

double dense_seconds(const std::string& fusion, const std::string& overlap) {
  return answer("simulate", {"--fusion=" + fusion, "--overlap=" + overlap, "--stack=population"})
      .at("results")
      .at(0)
      .at("iteration_seconds");
}

}  // namespace

TEST_CASE("a sweep holds a compressor against the fastest dense run", "[cli][sweep][against]") {
  const double merged = dense_seconds("merged", "no");
  const double best =
      std::min({merged, dense_seconds("ddp", "yes"), dense_seconds("layer", "yes")});
  CHECK(best < 0.9 * merged);  // else this test shows nothing
  const json row = answer("sweep", {"--compressor=gaussian"}).at("results").at(0);
  const double its = row.at("iteration_seconds");
  CHECK(row.at("fusion") == "merged");
  CHECK(row.at("speedup_over_dense") == Approx(merged / its));
  CHECK(row.at("speedup_over_best_dense") == Approx(best / its));
  CHECK(row.at("against") == "best");
  const double faster = row.at("speedup_over_best_dense");
  CHECK((row.at("speedup_low") <= faster && faster <= row.at("speedup_high")));

  const json same =
      answer("sweep", {"--compressor=gaussian", "--against=same"}).at("results").at(0);
  CHECK(same.at("speedup_over_best_dense").is_null());
  const double same_faster = same.at("speedup_over_dense");
  CHECK((same.at("speedup_low") <= same_faster && same_faster <= same.at("speedup_high")));
}

TEST_CASE("--fusion best gives the row that the fastest of the schedules gives",
          "[cli][sweep][against]") {
  double least = 1e9;
  std::string by;
  for (const auto& [fusion, overlap] :
       {std::pair{"merged", "no"}, {"ddp", "yes"}, {"layer", "yes"}}) {
    const double seconds = dense_seconds(fusion, overlap);
    if (seconds < least) by = fusion;
    least = std::min(least, seconds);
  }
  for (const char* command : {"sweep", "simulate"}) {
    const json row = answer(command, {"--fusion=best", "--stack=population"}).at("results").at(0);
    if (command == std::string("sweep"))
      CHECK(row.at("schedule") == by + (by == "merged" ? "" : ", overlapped"));
    else
      CHECK(row.at("fusion") == by);
    CHECK(row.at("iteration_seconds") == Approx(least));
  }
}

TEST_CASE("--fusion best chooses the overlap too", "[cli][against]") {
  const Ran ran =
      gradcast_with({"simulate", "--model=resnet-50", "--fusion=best", "--overlap=yes"});
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Contains("--fusion best chooses the overlap too: leave --overlap out"));
}

TEST_CASE("breakeven says which schedules it held against each other",
          "[cli][breakeven][against]") {
  const Words kAsked = {"--compressor=gaussian", "--over=kernel-cost"};
  const json best = answer("breakeven", kAsked);
  CHECK_THAT(best.at("summary").dump(), Contains("against the fastest dense run"));
  CHECK_THAT(best.at("summary").dump(), Contains("Schedules held against each other: merged "
                                                 "against"));
  CHECK(best.at("results").at(0).at("schedules") == "merged");
  Words same = kAsked;
  same.push_back("--against=same");
  const json row = answer("breakeven", same).at("results").at(0);
  CHECK(row.at("against") == "dense");
  CHECK(row.at("against_schedules") == "merged");
}

// Half the bytes on a network that binds are no slower. In DDP's buckets against one merged
// all-reduce fp16 was said to take 1.28 times as long, and `decide` said that it pays.
TEST_CASE("breakeven lets a compressor choose its schedule where dense does",
          "[cli][breakeven][against]") {
  const Words kAsked = {"breakeven",
                        "--preset=today",
                        "--model=gpt2-xl",
                        "--cluster=dgx-h100",
                        "--nodes=16",
                        "--batch=1",
                        "--compressor=fp16",
                        "--format=json",
                        "--over=nic-bandwidth",
                        "--from=25Gbps",
                        "--to=26Gbps",
                        "--engine=analytic",
                        "-q"};
  const auto found = [&](const Words& more) {
    Words words = kAsked;
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = gradcast_with(words);
    REQUIRE(ran.exit_code == 0);
    return json::parse(ran.out).at("results").at(0);
  };
  CHECK(found({}).at("schedules") == found({}).at("against_schedules"));
  CHECK(found({}).at("finding") == "pays throughout");
  const json named = found({"--fusion=ddp", "--overlap=yes"});
  CHECK(named.at("schedules") == "ddp, overlapped");
  CHECK(named.at("finding") != "pays throughout");
}

TEST_CASE("far beyond a cost table there is no answer, unless one insists", "[cli][extrapolate]") {
  Words words = {"simulate", "--model=resnet-50", "--compressor=topk", "--density=0.5",
                 "--engine=analytic"};
  const Ran refused = gradcast_with(words);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("density 0.5 is more than 3 times above the table's 0.1"));
  words.push_back("--extrapolate=yes");
  const Ran insisted = gradcast_with(words);
  CHECK(insisted.exit_code == 0);
  CHECK_THAT(insisted.out, Contains("? beyond the cost table"));
}

TEST_CASE("another network's trace is not suggested", "[cli][request]") {
  const Ran none = gradcast_with({"simulate", "--model=resnet-20"});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Contains("(there is iteration-resnet-20-p102-100)"));
  CHECK_THAT(none.err, !Contains("iteration-resnet-50") && !Contains("did you mean"));
}
