#include "sim/compare/comparison.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/compare/compared.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;
using Catch::Contains;

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

TEST_CASE("a row counts where the model claims it and its costs are its own", "[comparison]") {
  CHECK(compared("topk", 4, 3).counts());
  CHECK_FALSE(outside(compared("topk", 4, 3)).counts());
  ComparedRun what_if = compared("topk", 4, 3);
  what_if.what_if_costs = "others";
  CHECK_FALSE(what_if.counts());
}

// 6 + 12 + 1 ms on one GPU, and a ring of two ranks: each sends half of 24 kB twice, 24 ms.
TEST_CASE("a row is compared with what was run for it", "[comparison]") {
  const Scenario scenario = toy::scenario();
  const Plan plan = make_plan(scenario);
  const Engine& engine = *find_engine("analytic");
  const RunRecord record = engine.run(plan, scenario.cluster, scenario.world);
  MeasuredRun run;
  run.model = "toy";
  run.compressor = "dense";
  run.iteration = Seconds{0.086};
  run.outside = "a toy";
  const ComparedRun compared =
      compare_run(run, as_written(run), scenario, plan, summarize(plan, record));
  CHECK(compared.predicted().count() == Approx(0.043));
  CHECK(compared.error_percent() == Approx(-50));
  CHECK(compared.ranks == 2);
  CHECK(compared.outside_model == "a toy");
  CHECK(compared.asked_collective.empty());
  CHECK(compared.run.collective == "ring-all-reduce");  // as it was chosen
  CHECK(compared.run.trace == "iteration-toy-v100");

  RunRecord lost = record;
  lost.lost = "rank 1 waits for ever";
  CHECK_THROWS_AS(compare_run(run, as_written(run), scenario, plan, summarize(plan, lost)),
                  ValueError);
}

TEST_CASE("what is wrong with a row is said of its line", "[comparison]") {
  MeasuredRun run;
  run.line = 7;
  CHECK(naming_row("measured.csv", run, [] { return 3; }) == 3);
  CHECK_THROWS_WITH(naming_row("measured.csv", run, []() -> int { throw ValueError("no such"); }),
                    "measured.csv:7: no such");
  CHECK_THROWS_WITH(
      naming_row("measured.csv", run, []() -> int { throw DataError("costs.csv", 2, "no such"); }),
      "measured.csv:7: costs.csv:2: no such");
}
