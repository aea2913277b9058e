#include "sim/statistics.hpp"

#include <algorithm>
#include <stdexcept>
#include <unsupported/Eigen/SpecialFunctions>

namespace gradcast {
namespace {

/// Probability that |t| is larger: the incomplete beta function (Abramowitz and Stegun, 26.7.1 and
/// 26.5.27).
double two_sided_tail(double t, double degrees) {
  return Eigen::numext::betainc(degrees / 2, 0.5, degrees / (degrees + t * t));
}

}  // namespace

double t_quantile(double probability, double degrees) {
  if (!(probability > 0 && probability < 1)) throw std::logic_error("no probability to be below");
  if (!(degrees >= 1)) throw std::logic_error("Student's t without a degree of freedom");
  if (probability == 0.5) return 0;
  const double tail = 2 * std::min(probability, 1 - probability);
  double low = 0;
  double high = 1;
  while (two_sided_tail(high, degrees) > tail) high *= 2;
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    (two_sided_tail(middle, degrees) > tail ? low : high) = middle;
  }
  return probability < 0.5 ? -low : low;
}

}  // namespace gradcast
