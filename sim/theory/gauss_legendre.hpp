// Integrals of smooth functions, by Gauss and Legendre's rule of 32 points: exact for polynomials
// of degree 63. If the integrand has a kink, or many scales, cut the range there first.
#pragma once
#include <array>
#include <cstddef>

namespace gradcast {

inline constexpr std::size_t kGaussPoints = 32;

struct GaussLegendre {
  std::array<double, kGaussPoints> points{};  // between -1 and 1, rising
  std::array<double, kGaussPoints> weights{};
};

const GaussLegendre& gauss_legendre();

template <class Function>
double integral(double from, double to, Function function) {
  const GaussLegendre& rule = gauss_legendre();
  const double middle = from + (to - from) / 2;
  const double half = (to - from) / 2;
  double sum = 0;
  for (std::size_t i = 0; i < kGaussPoints; ++i)
    sum += rule.weights[i] * function(middle + half * rule.points[i]);
  return half * sum;
}

}  // namespace gradcast
