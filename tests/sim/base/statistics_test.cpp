#include "sim/base/statistics.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

using namespace gradcast;

TEST_CASE("Student's t has the quantiles of the tables", "[statistics]") {
  // Abramowitz and Stegun, table 26.10.
  CHECK(t_quantile(0.975, 1) == Approx(12.706).epsilon(1e-4));
  CHECK(t_quantile(0.975, 2) == Approx(4.303).epsilon(1e-4));
  CHECK(t_quantile(0.95, 10) == Approx(1.812).epsilon(3e-4));
  CHECK(t_quantile(0.995, 5) == Approx(4.032).epsilon(1e-4));
}

TEST_CASE("With two degrees of freedom Student's t has the quantiles of its closed form",
          "[statistics]") {
  for (const double p : {1e-6, 0.05, 0.4995, 0.6, 0.975})
    CHECK(t_quantile(p, 2) == Approx((2 * p - 1) / std::sqrt(2 * p * (1 - p))).epsilon(1e-13));
}

TEST_CASE("With many degrees of freedom Student's t is the normal distribution", "[statistics]") {
  CHECK(t_quantile(0.975, 1e7) == Approx(1.959964).epsilon(1e-6));
}

TEST_CASE("Student's t is symmetric about 0", "[statistics]") {
  CHECK(t_quantile(0.5, 3) == 0);
  CHECK(t_quantile(0.05, 3) == Approx(-t_quantile(0.95, 3)));
}

TEST_CASE("What is no probability has no quantile", "[statistics]") {
  CHECK_THROWS_AS(t_quantile(0, 3), std::logic_error);
  CHECK_THROWS_AS(t_quantile(1, 3), std::logic_error);
  CHECK_THROWS_AS(t_quantile(0.5, 0), std::logic_error);
}

TEST_CASE("the largest of several normal draws is expected where the integral has it",
          "[statistics]") {
  // For 2 draws 1 / sqrt(pi); for 8 and 128 by the trapezoidal rule in steps of 0.001.
  CHECK(expected_maximum(1) == 0);
  CHECK(expected_maximum(2) == Approx(0.56419).margin(0.03));
  CHECK(expected_maximum(8) == Approx(1.42360).margin(0.03));
  CHECK(expected_maximum(128) == Approx(2.59460).margin(0.03));
  CHECK_THROWS_AS(expected_maximum(0), std::logic_error);
}
