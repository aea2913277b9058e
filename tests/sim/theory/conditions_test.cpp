#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "sim/theory/law.hpp"
#include "sim/theory/vector_conditions.hpp"
#include "sim/theory/verdict.hpp"

using namespace gradcast;

namespace {

Population population(const char* law) { return Population(parse_law(law)); }

}  // namespace

TEST_CASE("where the density of |u| never rises, every bound holds", "[theory]") {
  for (const char* law : {"normal", "uniform", "laplace", "student:3", "triangular"}) {
    CAPTURE(law);
    CHECK(sufficient_for_cube(population(law)));
    CHECK(sufficient_for_square(population(law)));
    CHECK(check_lorenz(population(law)).holds);
    for (const double q : {1e-6, 0.001, 0.3, 0.7, 0.999})
      CHECK(within_bound(q, 3, population(law).at(q)));
  }
}

TEST_CASE("a density proportional to |u| has equality in the square, and no cube", "[theory]") {
  CHECK(check_lorenz(population("linear")).holds);
  CHECK(sufficient_for_square(population("linear")));
  CHECK_FALSE(sufficient_for_cube(population("linear")));
  CHECK_FALSE(within_bound(0.001, 3, population("linear").at(0.001)));
}

TEST_CASE("Theorem 1 fails for normals far from 0, clipped ones and signs", "[theory]") {
  for (const char* law :
       {"normal:8,1", "normal:5,1", "normal:3,1", "clipped-normal:1", "signs", "uniform:3,4"}) {
    CAPTURE(law);
    CHECK_FALSE(check_lorenz(population(law)).holds);
    CHECK_FALSE(sufficient_for_square(population(law)));
  }
}

// 1 - q - (1 - q)^2 = q (1 - q) is largest at 1/2: a quarter.
TEST_CASE("signs leave most beyond the bound at a half: a quarter", "[theory]") {
  const LorenzCheck check = check_lorenz(population("signs"));
  CHECK(check.first_q == Approx(1e-9));
  CHECK(check.worst_q == Approx(0.5).margin(1e-6));
  CHECK(check.worst_excess == Approx(0.25).epsilon(1e-12));
}

// Just below the first density the bound holds, just above it fails.
TEST_CASE("the first density that fails is found", "[theory]") {
  const Population normal = population("normal:5,1");
  const double first = check_lorenz(normal).first_q;
  CHECK(first > 0.001);
  CHECK(within_bound(first * 0.999, 2, normal.at(first * 0.999)));
  CHECK_FALSE(within_bound(first * 1.001, 2, normal.at(first * 1.001)));
}

// Squares 16, 9, 4, 1 of 30.
TEST_CASE("a vector keeps its largest squares, whatever their signs", "[theory]") {
  const SortedMagnitudes sorted({1, -4, 3, -2});
  const double left[] = {1, 14.0 / 30, 5.0 / 30, 1.0 / 30, 0};
  for (int k = 0; k <= 4; ++k) {
    CHECK(sorted.at(k).left == Approx(left[k]));
    CHECK(sorted.at(k).kept == Approx(1 - left[k]));
  }
  CHECK(sorted.square_below_largest(2) == Approx(4.0 / 16));
}

// The sum of the smallest j of 1, 3, 5, ... is j^2: the share left is (d - k)^2 / d^2.
TEST_CASE("squares in proportion to 2 (d - i) + 1 are the equality case", "[theory]") {
  std::vector<float> vector;
  for (int i = 0; i < 1000; ++i) vector.push_back(std::sqrt(static_cast<float>(2 * i + 1)));
  const SortedMagnitudes sorted(vector);
  for (const int k : {1, 500, 999})
    CHECK(sorted.at(k).left == Approx(std::pow(1 - k / 1000.0, 2)).epsilon(1e-6));
}

// Left of 4, 1, 1, 1 (a square of 7): 3, 2, 1 sevenths beside 9, 4, 1 sixteenths. Only the second,
// 0.2857 > 0.25, and the third, 0.1429 > 0.0625, fail.
TEST_CASE("a vector says where it fails first, and worst", "[theory]") {
  const LorenzCheck check = SortedMagnitudes({1, 2, 1, 1}).check_lorenz();
  CHECK_FALSE(check.holds);
  CHECK(check.first_q == 0.5);
  CHECK(check.worst_q == 0.75);
  CHECK(check.worst_excess == Approx(1.0 / 7 - 1.0 / 16));
}

// 1, then a half up to the middle, then on the line: at q = 0.1 what is left is 0.325 of 0.375.
TEST_CASE("squares under the line of Fig. 3 do not suffice", "[theory]") {
  std::vector<float> vector = {1};
  for (int i = 1; i < 1000; ++i)
    vector.push_back(static_cast<float>(std::sqrt(0.999 * std::min(0.5, 1 - i / 1000.0))));
  const SortedMagnitudes sorted(vector);
  CHECK(sorted.below_line());
  CHECK_FALSE(sorted.check_lorenz().holds);
  CHECK(sorted.at(100).left == Approx(0.325 / 0.375).epsilon(0.003));
}

// Squares 25, 25, 1.8, 1.7, ... 0.1 (67.1 in all): the second is above 19/20 of the first. Yet at
// k = 1, 42.1 are left, 0.627 < 0.9025; and of the last p elements, p (p + 1)/20 < 67.1 p^2/400.
TEST_CASE("squares under the line of Fig. 3 are not necessary either", "[theory]") {
  std::vector<float> vector(20, 1);
  vector[0] = vector[1] = 5;
  for (int i = 2; i < 20; ++i) vector[i] = static_cast<float>(std::sqrt((20 - i) / 10.0));
  const SortedMagnitudes sorted(vector);
  CHECK_FALSE(sorted.below_line());
  CHECK(sorted.check_lorenz().holds);
}

TEST_CASE("what suffices for a vector implies the bound at every k", "[theory]") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> factor(0, 1);
  for (int trial = 0; trial < 200; ++trial) {
    // From the largest: quotients that fall by random factors.
    const int d = 1 + trial % 30;
    std::vector<float> vector;
    double quotient = 1;
    for (int i = 1; i <= d; ++i, quotient *= 0.9 + 0.1 * factor(random))
      vector.push_back(static_cast<float>(std::sqrt(quotient * (2 * (d - i) + 1))));
    const SortedMagnitudes sorted(vector);
    CAPTURE(trial);
    if (sorted.sufficient_for_square()) CHECK(sorted.check_lorenz().holds);
  }
  CHECK(SortedMagnitudes({3, 1}).sufficient_for_square());        // 9/3, 1/1
  CHECK_FALSE(SortedMagnitudes({1, 1}).sufficient_for_square());  // 1/3, 1/1
}
