#include "sim/forecast/speedup_interval.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

const double kReach = 1.644854;  // deviations of a normal to the 5th and 95th percentile

ForecastDoubt deviating(double own, std::vector<Seconds> shared = {}) {
  return {ForecastDeviations{Seconds{own}, std::move(shared)}};
}

/// A forecast by physics, to which a stack would add so many seconds for sure.
ForecastDoubt lacking(double physics, double adds) {
  SoftwareSpread spread;
  spread.forecast = spread.physics = physics;
  if (adds > 0) spread.terms = {{"per_iteration_overhead", adds}};
  return {{}, spread};
}

}  // namespace

// 2 s for sure against 4 s with a deviation of 1 s: 4 ± 1.645 s over 2 s.
TEST_CASE("Where only the other run is unsure, the speedup is its interval over this time",
          "[speedup_interval]") {
  const auto interval = speedup_interval(Seconds{2}, deviating(0), Seconds{4}, deviating(1));
  REQUIRE(interval);
  CHECK(interval->low == Approx((4 - kReach) / 2));
  CHECK(interval->high == Approx((4 + kReach) / 2));
}

// A property that makes 2 s 10 % longer makes 4 s 10 % longer: the ratio stays 2.
TEST_CASE("What moves both runs by the same share leaves the speedup as it is",
          "[speedup_interval]") {
  const auto interval = speedup_interval(Seconds{2}, deviating(0, {Seconds{0.2}}), Seconds{4},
                                         deviating(0, {Seconds{0.4}}));
  REQUIRE(interval);
  CHECK(interval->low == Approx(2));
  CHECK(interval->high == Approx(2));
}

// 30 and 40 ms are 50 ms of the difference, of which 90 % lie within 82 ms.
TEST_CASE("A speedup excludes 1 just where the difference does not reach 0", "[speedup_interval]") {
  const auto low_over = [](double others) {
    return speedup_interval(Seconds{1}, deviating(30e-3), Seconds{others}, deviating(40e-3))->low;
  };
  CHECK(low_over(1.0823) > 1);
  CHECK(low_over(1.0822) < 1);
}

TEST_CASE("A time that may as well be none has no interval of a speedup", "[speedup_interval]") {
  CHECK_FALSE(speedup_interval(Seconds{1}, deviating(1), Seconds{4}, deviating(0)));
}

// Physics says 4 s over 2 s; with the overhead of 2 s it would be 4 s over 4 s.
TEST_CASE("The interval holds the speedup that is said, and what software would make of it",
          "[speedup_interval]") {
  const auto interval = speedup_interval(Seconds{2}, lacking(2, 2), Seconds{4}, lacking(4, 0));
  REQUIRE(interval);
  CHECK(interval->low == Approx(1));
  CHECK(interval->high == Approx(2));
}

TEST_CASE("Without doubts, or with doubts of two kinds, there is no interval",
          "[speedup_interval]") {
  CHECK_FALSE(speedup_interval(Seconds{2}, {}, Seconds{4}, {}));
  CHECK_FALSE(speedup_interval(Seconds{2}, deviating(1), Seconds{4}, lacking(4, 1)));
  CHECK_FALSE(interval_of(Seconds{2}, ForecastDoubt{}));
}

TEST_CASE("A fitted cluster has deviations, and no spread beside them", "[speedup_interval]") {
  Scenario scenario = toy::scenario();
  scenario.cluster.forecast_deviation = Seconds{3e-3};
  const ForecastDoubt doubt =
      doubt_of(scenario, make_plan(scenario), run(scenario, *find_engine("analytic")));
  REQUIRE(doubt.deviations);
  CHECK(doubt.deviations->own == Seconds{3e-3});
  CHECK_FALSE(doubt.spread);
}
