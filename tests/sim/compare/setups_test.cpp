#include "sim/compare/setups.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/compare/compared.hpp"

using namespace gradcast;

namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("runs of one compressor at several densities are told apart", "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 4), compared("topk", 2, 2),
                                compared("topk", 3, 3)};
  runs[1].run.density = 0.001;
  runs[2].run.density = 0.01;
  const auto pairs = speedups_of_fastest(runs);
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].compressor == "topk 0.001");
  CHECK(pairs[0].over == "dense");
  CHECK(pairs[1].over == "topk 0.01");
}

TEST_CASE("a speedup is over the dense run of the same set-up, where there is one",
          "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 6), compared("topk", 2, 2),
                                compared("topk", 2, 2, "other")};
  add_speedups(runs);
  CHECK(runs[0].measured_speedup == Approx(1.0));
  CHECK(*runs[1].measured_speedup == Approx(2));
  CHECK(*runs[1].predicted_speedup == Approx(3));
  CHECK_FALSE(runs[2].measured_speedup);
}

// The dense run of 3 s is the one to beat, though its forecast of 6 s is the slower: 3 / 2 and 6
// / 2.
TEST_CASE("a speedup is over the fastest measured dense run, whatever its schedule",
          "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 5), compared("dense", 3, 6),
                                compared("topk", 2, 2)};
  runs[0].run.fusion = parse_fusion("layer");
  runs[1].run.fusion = parse_fusion("25MiB");
  runs[1].run.overlap = true;
  add_speedups(runs);
  CHECK(*runs[2].measured_speedup == Approx(1.5));
  CHECK(*runs[2].predicted_speedup == Approx(3));
  CHECK(runs[2].dense_fusion == "25MiB");
  CHECK(*runs[0].measured_speedup == Approx(0.75));
  CHECK(*runs[1].measured_speedup == Approx(1));
}

// 2 s for sure over 4 s with a deviation of 1 s: 4 ± 1.645 s over 2 s. Dense over dense has none.
TEST_CASE("a forecast speedup has an interval where both runs have one", "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 4), compared("topk", 2, 2)};
  runs[0].doubt.deviations = {Seconds{1}, {}};
  add_speedups(runs);
  CHECK_FALSE(runs[1].speedup_interval);
  runs[1].doubt.deviations = {Seconds{0}, {}};
  add_speedups(runs);
  REQUIRE(runs[1].speedup_interval);
  CHECK(runs[1].speedup_interval->low == Approx((4 - 1.644854) / 2));
  CHECK_FALSE(runs[0].speedup_interval);
}

TEST_CASE("runs of another GPU are another set-up, repeats are no pairs, modes are told apart",
          "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 4), compared("dense", 3, 3),
                                compared("dgc", 2, 2), compared("dgc", 1, 1)};
  runs[2].run.mode = "code";
  runs[3].run.mode = "paper";
  std::vector<std::string> pairs;
  for (const SpeedupPair& pair : speedups_of_fastest(runs))
    pairs.push_back(pair.compressor + " over " + pair.over);
  CHECK(pairs == Names{"dgc paper over dense", "dgc paper over dgc code"});
  runs[3].run.compute = Seconds{0.5};  // a faster GPU: no longer a speedup of compression
  add_speedups(runs);
  CHECK_FALSE(runs[3].measured_speedup);
}

TEST_CASE("fastest is what was measured fastest, not what was forecast so", "[comparison]") {
  CHECK(speedups_of_fastest({compared("dense", 4, 1), compared("topk", 2, 3)})[0].compressor ==
        "topk");
}

TEST_CASE("the fastest as measured is shown over each of the others", "[comparison]") {
  const auto pairs = speedups_of_fastest(
      {compared("dense", 4, 6), compared("topk", 8, 6), compared("gaussian", 2, 3)});
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].compressor == "gaussian");
  CHECK(pairs[0].over == "dense");
  CHECK(pairs[0].measured == Approx(2));
  CHECK(pairs[1].over == "topk");
  CHECK(pairs[1].measured == Approx(4));
  CHECK(pairs[1].predicted == Approx(2));
}

// Measured 2 < 3 < 4, forecast 3 > 1: gaussian and dgc are swapped, and 3 is 50 % more than 2.
TEST_CASE("a ranking says which pairs are swapped, and how far apart they were measured",
          "[comparison]") {
  const auto rankings =
      rankings_of({compared("dense", 4, 5), compared("gaussian", 2, 3), compared("dgc", 3, 1)});
  REQUIRE(rankings.size() == 1);
  CHECK(rankings[0].measured == Names{"gaussian", "dgc", "dense"});
  CHECK(rankings[0].forecast == Names{"dgc", "gaussian", "dense"});
  CHECK_FALSE(rankings[0].right());
  REQUIRE(rankings[0].swapped.size() == 1);
  CHECK(rankings[0].swapped[0].faster == "gaussian");
  CHECK(rankings[0].swapped[0].slower == "dgc");
  CHECK(rankings[0].swapped[0].apart_percent == Approx(50));
}

TEST_CASE("what is equally fast has no order that could be wrong", "[comparison]") {
  CHECK(rankings_of({compared("dense", 4, 5), compared("topk", 4, 3)})[0].right());
  const auto same_forecast = rankings_of({compared("dense", 4, 3), compared("topk", 2, 3)});
  CHECK(same_forecast[0].right());
  CHECK(same_forecast[0].forecast == Names{"topk", "dense"});  // as measured
}

// Top-k: (1 + 5) / 2 = 3 s measured, less than 4; (6 + 2) / 2 = 4 s forecast, more than 3.
TEST_CASE("of repeats the mean is ranked", "[comparison]") {
  const auto rankings =
      rankings_of({compared("dense", 4, 3), compared("topk", 1, 6), compared("topk", 5, 2)});
  REQUIRE(rankings.size() == 1);
  CHECK(rankings[0].measured == Names{"topk", "dense"});
  CHECK(rankings[0].forecast == Names{"dense", "topk"});
}

TEST_CASE("each schedule of an algorithm is ranked, and named where it has several",
          "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 4), compared("topk", 3, 3),
                                compared("topk", 2, 2), compared("topk", 1, 1)};
  runs[1].run.fusion = runs[2].run.fusion = parse_fusion("layer");
  runs[2].run.overlap = true;
  runs[3].run.fusion = parse_fusion("merged");
  REQUIRE(rankings_of(runs).size() == 1);
  CHECK(rankings_of(runs)[0].measured ==
        Names{"topk merged", "topk layer overlap", "topk layer no overlap", "dense"});
}

TEST_CASE("what leaves the work of compressing out is not ranked", "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 4), compared("topk", 3, 3),
                                compared("topk", 1, 1)};
  runs[2].run.compressing = false;
  CHECK(rankings_of(runs)[0].measured == Names{"topk", "dense"});
  CHECK(speedups_of_fastest(runs)[0].measured == Approx(4.0 / 3));
}

TEST_CASE("only set-ups of two algorithms that count are ranked", "[comparison]") {
  CHECK(rankings_of({compared("dense", 4, 5), compared("topk", 2, 3, "other")}).empty());
  CHECK(rankings_of({compared("dense", 4, 5), outside(compared("topk", 2, 3))}).empty());
  CHECK(speedups_of_fastest({compared("dense", 4, 5), outside(compared("topk", 2, 3))}).empty());
}

TEST_CASE("one compressor over two collectives is two algorithms of one set-up", "[comparison]") {
  std::vector<ComparedRun> runs{with_collective(compared("topk", 4, 5), "ring-all-gather"),
                                with_collective(compared("topk", 2, 3), "gtopk"),
                                compared("dense", 3, 4)};
  const auto rankings = rankings_of(runs);
  REQUIRE(rankings.size() == 1);
  CHECK(rankings[0].measured == Names{"topk gtopk", "dense", "topk ring-all-gather"});
  runs[0].run.nodes = 8;  // another set-up, though nothing else is
  CHECK(rankings_of(runs).size() == 1);
  CHECK(rankings_of(runs)[0].measured == Names{"topk gtopk", "dense"});
}
