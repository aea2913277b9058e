#include "sim/theory/gauss_legendre.hpp"

#include <cmath>
#include <numbers>

namespace gradcast {
namespace {

struct LegendreValue {
  double value = 0;
  double slope = 0;
};

/// The Legendre polynomial of degree kGaussPoints and its slope, by recurrence.
LegendreValue legendre(double x) {
  double before = 1;
  double value = x;
  for (std::size_t n = 2; n <= kGaussPoints; ++n) {
    const double degree = static_cast<double>(n);
    const double next = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree;
    before = value;
    value = next;
  }
  const double n = kGaussPoints;
  return {value, n * (x * value - before) / (x * x - 1)};
}

/// The points are the roots of the polynomial: Newton's method from Tricomi's estimates.
GaussLegendre made_rule() {
  constexpr int kNewtonSteps = 10;  // five are enough
  GaussLegendre rule;
  for (std::size_t i = 0; i < kGaussPoints; ++i) {
    const double place = static_cast<double>(kGaussPoints - i) - 0.25;
    double x = std::cos(std::numbers::pi * place / (static_cast<double>(kGaussPoints) + 0.5));
    for (int step = 0; step < kNewtonSteps; ++step) {
      const LegendreValue at = legendre(x);
      x -= at.value / at.slope;
    }
    const double slope = legendre(x).slope;
    rule.points[i] = x;
    rule.weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return rule;
}

}  // namespace

const GaussLegendre& gauss_legendre() {
  static const GaussLegendre rule = made_rule();
  return rule;
}

}  // namespace gradcast
