#include "sim/comparison.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

namespace {

ComparedRun compared(const char* compressor, double measured, double predicted,
                     const char* model = "m") {
  ComparedRun run;
  run.run.model = model;
  run.run.compressor = compressor;
  run.run.compute = Seconds{1};
  run.run.iteration = Seconds{measured};
  run.forecast.iteration = Seconds{predicted};
  return run;
}

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

// Measured 4 s, forecast 3 s, of which 1 s is computing.
TEST_CASE("an error has a sign, and what is missing is unexplained", "[comparison]") {
  const ComparedRun run = compared("topk", 4, 3);
  CHECK(run.error_percent() == Approx(-25));
  CHECK(run.unexplained().count() == Approx(1));
  CHECK(run.measured_efficiency() == Approx(0.25));
  CHECK(run.predicted_efficiency() == Approx(1.0 / 3));
}

// |errors| sorted: 1 2 3 4 10. Mean 4, median the third, 90th percentile the fifth (0.9 x 5 = 4.5).
TEST_CASE("errors are summed up by size and by sign", "[comparison]") {
  const ErrorSummary errors = summarize_errors({1, -2, 3, -10, 4});
  CHECK(errors.rows == 5);
  CHECK(errors.mean_absolute == Approx(4));
  CHECK(errors.median_absolute == Approx(3));
  CHECK(errors.p90_absolute == Approx(10));
  CHECK(errors.worst == Approx(-10));
  CHECK(errors.bias == Approx(-0.8));
  CHECK(summarize_errors({-7}).median_absolute == Approx(7));
  CHECK(summarize_errors({-2, 6}).median_absolute == Approx(4));
  CHECK_THROWS_AS(summarize_errors({}), std::logic_error);
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

TEST_CASE("runs of another GPU are another set-up, repeats are no pairs, modes are told apart",
          "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 4, 4), compared("dense", 3, 3),
                                compared("dgc", 2, 2), compared("dgc", 1, 1)};
  runs[2].run.mode = "code";
  runs[3].run.mode = "paper";
  std::vector<std::string> pairs;
  for (const SpeedupPair& pair : speedups_of_fastest(runs))
    pairs.push_back(pair.compressor + " over " + pair.over);
  CHECK(pairs == std::vector<std::string>{"dgc paper over dense", "dgc paper over dense",
                                          "dgc paper over dgc code"});
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
