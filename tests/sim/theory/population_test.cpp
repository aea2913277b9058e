// Quadrature beside closed forms, and beside sums that share no code with it.
#include "sim/theory/population.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "kernels/normal_quantile.hpp"
#include "sim/theory/law.hpp"

using namespace gradcast;

namespace {

constexpr double kDensities[] = {1e-9, 1e-6, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999, 0.999999};

double phi(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }
double big_phi(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

/// Checks the shares that Top-k leaves (closed form `left`) and keeps at q, to ten digits.
template <class Left>
void check_all(const char* law, Left left) {
  const Population population(parse_law(law));
  for (const double q : kDensities) {
    CAPTURE(law, q);
    const SquareShares shares = population.at(q);
    CHECK(shares.left == Approx(left(q)).epsilon(1e-10).margin(1e-10));
    CHECK(shares.kept == Approx(1 - left(q)).epsilon(1e-10).margin(1e-10));
  }
}

/// The share left, by the midpoint rule over a million magnitudes up to `end`, largest first.
template <class Density>
double left_by_sums(double q, double end, Density density) {
  constexpr int kSteps = 1'000'000;
  double mass = 0, square = 0, kept = -1;
  double whole = 0;
  for (int i = 0; i < kSteps; ++i) whole += density(end * (i + 0.5) / kSteps);
  for (int i = kSteps; i-- > 0;) {
    const double m = end * (i + 0.5) / kSteps;
    if (mass >= q && kept < 0) kept = square;
    mass += density(m) / whole;
    square += m * m * density(m) / whole;
  }
  return 1 - kept / square;
}

}  // namespace

// E[z^2; |z| > t] = q + 2 t phi(t), where q = P(|z| > t).
TEST_CASE("a normal around 0 leaves 1 - q - 2 z phi(z)", "[theory]") {
  const auto left = [](double q) {
    const double z = -normal_quantile(q / 2);
    return 1 - q - 2 * z * phi(z);
  };
  for (const char* law : {"normal", "normal:0,3", "normal:0,1e-6"}) check_all(law, left);
  CHECK(Population(parse_law("normal")).at(0.001).left == Approx(0.9873).margin(5e-5));
}

// |u| is uniform: the squares of the smallest share p are p^3 of all.
TEST_CASE("a uniform around 0 leaves (1 - q)^3", "[theory]") {
  for (const char* law : {"uniform", "uniform:-7,7", "uniform:0,2"})
    check_all(law, [](double q) { return std::pow(1 - q, 3); });
}

// From 1 to 3, the largest lie above t = 3 - 2 q: the others have (t^3 - 1) of 26.
TEST_CASE("a uniform that does not reach 0 leaves what its cubes say", "[theory]") {
  for (const char* law : {"uniform:1,3", "uniform:-3,-1"})
    check_all(law, [](double q) { return (std::pow(3 - 2 * q, 3) - 1) / 26; });
}

// P(|u| < m) = m^2, so that m^2 = p; E[m^2] up to there is p^2 / 2.
TEST_CASE("a density proportional to |u| leaves (1 - q)^2", "[theory]") {
  check_all("linear", [](double q) { return (1 - q) * (1 - q); });
}

// t = -ln q; E[m^2; m > t] = q (t^2 + 2 t + 2), of 2.
TEST_CASE("a Laplace leaves 1 - q (t^2 + 2 t + 2) / 2", "[theory]") {
  for (const char* law : {"laplace", "laplace:0.01"})
    check_all(law, [](double q) {
      const double t = -std::log(q);
      return 1 - q * (t * t + 2 * t + 2) / 2;
    });
}

// Weighing by m^2 moves the normal of ln m by 2 sigma^2.
TEST_CASE("a lognormal leaves Phi(z - 2 sigma)", "[theory]") {
  check_all("lognormal", [](double q) { return big_phi(-normal_quantile(q) - 2); });
  check_all("lognormal:0.01", [](double q) { return big_phi(-normal_quantile(q) - 0.02); });
  check_all("lognormal:3", [](double q) { return big_phi(-normal_quantile(q) - 6); });
}

// Density 2 (1 - m): the largest are above t = 1 - sqrt(q); E[m^2; m < t] = 2 t^3/3 - t^4/2, of
// 1/6.
TEST_CASE("a triangular leaves 4 t^3 - 3 t^4", "[theory]") {
  check_all("triangular", [](double q) {
    const double t = 1 - std::sqrt(q);
    return 4 * t * t * t - 3 * t * t * t * t;
  });
}

// All squares are 1.
TEST_CASE("of equal magnitudes a part is taken, exactly", "[theory]") {
  check_all("signs", [](double q) { return 1 - q; });
}

// 2 Phi(-1) = 0.3173 lies at +-1. Up to that density each element has the square 1, of
// 1 - 2 phi(1) = 0.5161 (the second moment of a normal within +-1 is 0.6827 - 2 phi(1); + 0.3173).
TEST_CASE("a clipped normal takes its atoms first", "[theory]") {
  const double atoms = 2 * big_phi(-1);
  const double second = 1 - 2 * phi(1);
  const Population population(parse_law("clipped-normal:1"));
  for (const double q : {1e-9, 0.001, 0.01, 0.1, 0.3173})
    CHECK(population.at(q).kept == Approx(q / second).epsilon(1e-12));
  // Beyond them: t with 2 Phi(-t) = q; the rest has 1 - q - 2 t phi(t).
  for (const double q : {0.32, 0.5, 0.9, 0.999}) {
    const double t = -normal_quantile(q / 2);
    REQUIRE(q > atoms);
    CHECK(population.at(q).left == Approx((1 - q - 2 * t * phi(t)) / second).epsilon(1e-9));
  }
}

TEST_CASE("a normal that is not around 0 leaves what a million slices leave", "[theory]") {
  for (const double mean : {3.0, 8.0}) {
    const Population population(parse_law("normal:" + std::to_string(mean) + ",1"));
    const Population two_modes(parse_law("bimodal:" + std::to_string(mean) + ",1"));
    for (const double q : {0.001, 0.1, 0.5, 0.9}) {
      CAPTURE(mean, q);
      const double slices =
          left_by_sums(q, mean + 10, [&](double m) { return phi(m - mean) + phi(m + mean); });
      CHECK(population.at(q).left == Approx(slices).margin(3e-5));
      CHECK(two_modes.at(q).left == Approx(population.at(q).left).epsilon(1e-11));
    }
  }
}

// The density (1 + m^2/4)^-2.5 of 4 degrees has the primitive of P(|u| < m) = s (3 - s^2) / 2 with
// s = m / sqrt(m^2 + 4), and E[m^2; |u| < m] = 2 s^3: both 1 and 2 at s = 1.
TEST_CASE("a Student of 4 degrees leaves s^3", "[theory]") {
  const Population population(parse_law("student:4"));
  for (const double s : {0.01, 0.3, 0.7, 0.99, 0.999}) {
    const double q = 1 - s * (3 - s * s) / 2;
    CHECK(population.at(q).left == Approx(s * s * s).epsilon(1e-9));
  }
}

TEST_CASE("at a density of 0 all is left, at 1 nothing", "[theory]") {
  for (const std::string& name : law_names()) {
    const Population population(parse_law(name));
    CHECK(population.at(0).left == 1);
    CHECK(population.at(1).left == 0);
  }
}
