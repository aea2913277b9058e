#include "sim/compare/report.hpp"

#include <catch2/catch.hpp>

#include "sim/compare/setups.hpp"
#include "tests/sim/compare/compared.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const ComparisonView kView{"runs", "analytic"};

std::string table(const std::vector<ComparedRun>& runs) { return comparison_table(runs, kView); }

std::vector<ComparedRun> two_setups(double second_dense_forecast) {
  return {compared("dense", 4, 5), compared("topk", 2, 3), compared("dense", 4, 5, "n"),
          compared("topk", 2, second_dense_forecast, "n")};
}

}  // namespace

TEST_CASE("rankings that came out right are one sentence", "[comparison]") {
  CHECK_THAT(table(two_setups(3)), Contains("The ranking of the algorithms came out right in all 2 "
                                            "set-ups: topk < dense.\n"));
  const Json summary = summary_json(two_setups(3));
  CHECK(summary["rankings_right"] == 2);
  CHECK(summary["rankings_total"] == 2);
  CHECK(summary["rankings"][1]["model"] == "n");
  CHECK(summary["rankings"][1]["measured"] == Json{"topk", "dense"});
  CHECK(summary["rankings"][1]["right"] == true);
}

// On n Top-k was measured to take 2 s, dense 4: 100 % apart; forecast are 6 and 5.
TEST_CASE("where one is wrong each set-up has a line", "[comparison]") {
  const std::string text = table(two_setups(6));
  CHECK_THAT(text, Contains("right in 1 of 2 set-ups"));
  CHECK_THAT(text, Contains("topk < dense (100.0 % apart)"));
  const Json summary = summary_json(two_setups(6));
  CHECK(summary["rankings_right"] == 1);
  CHECK(summary["rankings"][1]["forecast"] == Json{"dense", "topk"});
  CHECK(summary["rankings"][1]["swapped"][0]["apart_percent"].get<double>() == Approx(100));
}

// Top-k and DGC are measured twice as fast as dense, which only the first is forecast to be; the
// forecast interval of that, 1.2 to 3, excludes 1. Both take 2 s, so neither is the faster one.
TEST_CASE("verdicts are a table, and an interval of a speedup has its columns", "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 4), compared("topk", 2, 2),
                                compared("dgc", 2, 5)};
  add_speedups(runs);
  CHECK_THAT(table(runs), !Contains("x dense 90 %"));
  runs[1].speedup_interval = {1.2, 3};
  const std::string text = table(runs);
  CHECK_THAT(text, Contains("does it beat dense?") && Contains("x dense 90 %") &&
                       Contains("1.20 to 3.00") && !Contains("Of two compressed methods"));
  CHECK_THAT(text, Contains("overall                  2      1      1     1               0"));
  const Json verdicts = summary_json(runs)["verdicts"];
  CHECK(verdicts == Json{{"pairs", 2},
                         {"right", 1},
                         {"wrong", 1},
                         {"sure", 1},
                         {"sure_and_wrong", 0},
                         {"too_close", 0}});
  CHECK(summary_json(runs)["orders"]["pairs"] == 0);
  const Json row = row_of(runs[1]);
  CHECK(row["predicted_speedup_low"] == 1.2);
  CHECK(row["predicted_speedup_high"] == 3);
  CHECK(row["pays_sure"] == "yes");
  CHECK(row["verdict"] == "surely pays");
  CHECK(row["dense_fusion"] == "merged");
  CHECK(row_of(runs[2])["predicted_speedup_low"].is_null());
  runs[2].run.iteration = Seconds{3};
  CHECK_THAT(table(runs), Contains("Of two compressed methods more than 5 % apart, the forecast "
                                   "named the faster one in 1 of 1 pairs."));
}

TEST_CASE("densities have a column where a compressor has several, and what is assumed is said",
          "[comparison]") {
  ComparedRun sparse = compared("topk", 2, 3);
  sparse.run.density = 0.01;
  ComparedRun sparser = sparse;
  sparser.run.density = 0.001;
  sparser.run.assumed = "its batch";
  CHECK_THAT(table({compared("dense", 4, 5), sparse}),
             !Contains("density") && !Contains("Assumed"));
  CHECK_THAT(table({compared("dense", 4, 5), sparse, sparser}),
             Contains("density") && Contains("0.001") && Contains("Assumed: its batch\n"));
}

// The forecast has the order reversed: of the six pairs, those 100 %, 80 % and 60 % apart are
// shown.
TEST_CASE("of many swapped pairs the farthest apart are shown", "[comparison]") {
  const std::string text = table({compared("dense", 10, 4), compared("topk", 16, 3),
                                  compared("dgc", 18, 2), compared("gaussian", 20, 1)});
  CHECK_THAT(text, Contains("dense < gaussian (100.0 % apart), dense < dgc (80.0 % apart), dense < "
                            "topk (60.0 % apart) and 3 more"));
}

TEST_CASE("set-ups that only their compute tells apart show it", "[comparison]") {
  std::vector<ComparedRun> runs = two_setups(6);
  runs[2].run.model = runs[3].run.model = "m";
  runs[2].run.compute = runs[3].run.compute = Seconds{0.5};
  const std::string text = table(runs);
  const std::string rankings = text.substr(text.find("measured, fastest first") - 30);
  CHECK_THAT(rankings, Contains("compute*") && Contains("0.5000"));
}

TEST_CASE("a summary has a group for each algorithm, model and source", "[comparison]") {
  const Json summary = summary_json(two_setups(3));
  CHECK(summary["by_compressor"]["topk"]["rows"] == 2);
  CHECK(summary["by_model"]["n"]["rows"] == 2);
  CHECK(summary["by_source"]["s"]["rows"] == 4);
  CHECK(summary["bias"] == "too slow");
  const std::string text = table(two_setups(3));
  CHECK_THAT(text, Contains("algorithm topk") && Contains("model n") && !Contains("source s"));
  CHECK_THAT(text, Contains("+37.5 too slow"));  // (25 + 50 + 25 + 50) / 4
}

// More than five groups of clusters, ranks, jobs or fusions tell nothing; more than five models do.
TEST_CASE("every model has its summary, clusters have where there are few", "[comparison]") {
  std::vector<ComparedRun> runs;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    runs.push_back(compared("dense", 4, 5, name));
    runs.back().run.cluster = std::string("on-") + name;
  }
  CHECK_THAT(table(runs), Contains("model f") && !Contains("cluster on-f"));
  runs.pop_back();
  CHECK_THAT(table(runs), Contains("cluster on-e"));
}

TEST_CASE("rows outside the model are marked, and said to be in no figure", "[comparison]") {
  const std::vector<ComparedRun> runs{compared("dense", 4, 5), outside(compared("topk", 2, 8))};
  const std::string text = table(runs);
  CHECK_THAT(text, Contains("m !  "));
  CHECK_THAT(text,
             Contains("! Outside what the model claims, counted nowhere: no such schedule\n"));
  CHECK_THAT(text, Contains("1 of 2 rows outside the model (!) are in none of these figures."));
  const Json summary = summary_json(runs);
  CHECK(summary["rows"] == 1);
  CHECK(summary["rows_outside_model"] == 1);
  CHECK(summary["by_compressor"]["topk"]["rows"] == 0);
  CHECK(summary["by_compressor"]["topk"]["bias_percent"].is_null());
  CHECK(summary["rankings_total"] == 0);
  CHECK_NOTHROW(require_within(30, runs));  // dense is off by 25 %, Top-k by 300 %
  CHECK_THROWS_AS(require_within(20, runs), Error);
}

TEST_CASE("where rows are outside for several reasons, each names its rows", "[comparison]") {
  const std::string text =
      table({outside(compared("dense", 4, 5), "late"), outside(compared("topk", 4, 5), "early")});
  CHECK_THAT(text, Contains("(m with dense): late\n") && Contains("(m with topk): early\n"));
  CHECK_THAT(text, Contains("No row has an error that counts."));
  CHECK(summary_json({outside(compared("dense", 4, 5))})["rows"] == 0);
}

// 4 s lies in 3..6, which is 3 of the forecast's 5 s wide.
TEST_CASE("intervals have a column and a sentence where a row has one", "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 5), compared("topk", 2, 3)};
  CHECK_THAT(table(runs), !Contains("interval"));
  CHECK(row_of(runs[0])["interval_low_seconds"].is_null());
  CHECK(summary_json(runs)["interval_rows"] == 0);
  runs[0].low = Seconds{3};
  runs[0].high = Seconds{6};
  CHECK_THAT(table(runs), Contains("90 % interval") && Contains("3.000 to 6.000"));
  CHECK_THAT(table(runs), Contains("Measured inside the 90 % interval: 1 of 1 (100.0 %), median "
                                   "width 60.0 % of the forecast."));
  CHECK(row_of(runs[0])["interval_high_seconds"] == 6);
  CHECK(summary_json(runs)["interval_coverage_percent"] == 100);
  CHECK(summary_json(runs)["interval_median_width_percent"].get<double>() == Approx(60));
}

TEST_CASE("an extrapolated row is marked, and counts", "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 5)};
  runs[0].extrapolated = "more nodes than were fitted";
  CHECK_THAT(table(runs), Contains("m ^") && Contains("^ Extrapolated: more nodes"));
  CHECK(row_of(runs[0])["extrapolated"] == "more nodes than were fitted");
  CHECK(summary_json(runs)["rows"] == 1);
}

// 4 s measured, 5 forecast, 2 with other costs: 2 times as fast as measured, 2.5 as forecast.
TEST_CASE("a what-if has no errors", "[comparison]") {
  std::vector<ComparedRun> runs{compared("topk", 4, 2)};
  runs[0].what_if_costs = "floor";
  runs[0].own_costs_forecast = Seconds{5};
  CHECK_THAT(table(runs), Contains("What if compressing cost as floor says: runs") &&
                              Contains("2.50") && Contains("2.00") && !Contains("error %"));
  const Json row = row_of(runs[0]);
  CHECK(row["error_percent"].is_null());
  CHECK(row["unexplained_seconds"].is_null());
  CHECK(row["what_if_costs"] == "floor");
  CHECK(row["times_as_fast"] == 2);
  CHECK(row["own_costs_seconds"] == 5);
  CHECK(summary_json(runs)["what_if_costs"] == "floor");
  CHECK_FALSE(summary_json(runs).contains("bias_percent"));
}

TEST_CASE("a split has shares of the measured time", "[comparison]") {
  std::vector<ComparedRun> runs{compared("topk", 4, 3)};
  runs[0].forecast.encode = Seconds{2};
  runs[0].forecast.forward = Seconds{1};
  runs[0].run.measured_encode = Seconds{2.5};
  const Json row = row_of(runs[0]);
  CHECK(row["codec_share_percent"] == 50);
  CHECK(row["unexplained_share_percent"] == 25);
  CHECK(row["encode_error_percent"].get<double>() == Approx(-20));
  const std::string text = comparison_table(runs, {"runs", "analytic", false, true});
  CHECK_THAT(text, Contains("2.000 (50.0 %)") && Contains("1.000 (25.0 %)"));
  CHECK_THAT(text, Contains("measured by themselves") && Contains("-20.0") &&
                       Contains("Mean absolute error of these parts: encode 20.0 % (1 rows)."));
  CHECK_THAT(table(runs), !Contains("measured by themselves"));
}

TEST_CASE("an error bound is a number above zero", "[comparison]") {
  CHECK(parse_max_error("20%") == 20);
  CHECK(parse_max_error("20") == 20);
  for (const char* wrong : {"0", "-3", "much", ""})
    CHECK_THROWS_AS(parse_max_error(wrong), ValueError);
}
