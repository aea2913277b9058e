#include "sim/tta/iterations_needed.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/sim/tta/trainings.hpp"

using namespace gradcast;

TEST_CASE("the first evaluation at or above the target counts, and nothing is extrapolated",
          "[tta]") {
  const TrainedSetup setup =
      trained_setups({invented_training("topk", 1, {{100, 84}, {200, 85}, {300, 84}, {400, 86}}),
                      invented_training("topk", 2, {{100, 84}, {200, 84.9}, {300, 86}}),
                      invented_training("topk", 3, {{100, 84}, {250, 84.9}})})
          .all[0];
  const IterationsNeeded needed = iterations_needed(setup, 85);
  CHECK(needed.counted() == "2 of 3");
  CHECK(*needed.median == 250);  // of 200 and 300
  CHECK(needed.least == 200);
  CHECK(needed.most == 300);
  CHECK(needed.not_within == 250);
  CHECK(needed.looked_share == Approx(0.5));  // 100 of 200; 200 of 300 is more
  CHECK(!interval_of(needed));
  CHECK(!iterations_needed(setup, 90).median);
  CHECK(iterations_needed(setup, 90).at_least() == 250);
}

// Logarithms of 100, 200 and 400: mean ln 200, deviation ln 2. One more training lies within
// t(0.95; 2) = 2.920 times ln 2 x sqrt(1 + 1/3), so 2.337: 200 / 10.35 to 200 x 10.35. The tests
// before came after half of the iterations, which halves the low end.
TEST_CASE("the interval of iterations is that of one more training", "[tta]") {
  const auto interval = interval_of(iterations_needed(invented_setup("topk", {100, 200, 400}), 85));
  REQUIRE(interval);
  const double factor = std::exp(2.91999 * std::log(2) * std::sqrt(4.0 / 3));
  CHECK(interval->low == Approx(200 / factor / 2).epsilon(1e-4));
  CHECK(interval->high == Approx(200 * factor).epsilon(1e-4));
}

TEST_CASE("one training tells no spread", "[tta]") {
  CHECK(!interval_of(iterations_needed(invented_setup("topk", {100}), 85)));
}

// Equal trainings: the only uncertainty is that nobody looked between two evaluations. Twice as
// many iterations may then be as many (100 of 100) or four times (200 of 50).
TEST_CASE("between evaluations nobody looked", "[tta]") {
  const auto ratio = ratio_interval(iterations_needed(invented_setup("topk", {200, 200}), 85),
                                    iterations_needed(invented_setup("dense", {100, 100}), 85));
  REQUIRE(ratio);
  CHECK(ratio->low == Approx(1));
  CHECK(ratio->high == Approx(4));
}

TEST_CASE("a target at the first evaluation may have been reached from the first iteration on",
          "[tta]") {
  const TrainedSetup setup = trained_setups({invented_training("dense", 1, {{50, 90}}),
                                             invented_training("dense", 2, {{50, 90}})})
                                 .all[0];
  CHECK(interval_of(iterations_needed(setup, 85))->low == Approx(1));
}
