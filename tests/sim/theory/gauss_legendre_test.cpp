#include "sim/theory/gauss_legendre.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace gradcast;

// The integral of x^62 from 0 to 1 is 1/63.
TEST_CASE("32 points integrate a polynomial of degree 62 exactly", "[theory]") {
  CHECK(integral(0, 1, [](double x) { return std::pow(x, 62); }) ==
        Approx(1.0 / 63).epsilon(1e-13));
}

TEST_CASE("weights add up to the length, and points rise", "[theory]") {
  double sum = 0;
  for (const double weight : gauss_legendre().weights) sum += weight;
  CHECK(sum == Approx(2).epsilon(1e-14));
  for (std::size_t i = 1; i < kGaussPoints; ++i)
    CHECK(gauss_legendre().points[i] > gauss_legendre().points[i - 1]);
}
