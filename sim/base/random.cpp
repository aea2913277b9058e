#include "sim/base/random.hpp"

#include <cmath>

#include "kernels/normal_quantile.hpp"

namespace gradcast {
namespace {

/// SplitMix64's output function (Steele, Lea, Flood, OOPSLA 2014): each bit of the input decides
/// each bit of the output.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

double uniform(const DrawName& name) {
  std::uint64_t bits = mixed(name.seed);
  bits = mixed(bits ^ name.replica);
  bits = mixed(bits ^ static_cast<std::uint64_t>(name.what));
  bits = mixed(bits ^ name.index);
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;  // one bit more would round up to 1
}

double lognormal_factor(double deviation, const DrawName& name) {
  if (deviation == 0) return 1;
  const double variance = std::log1p(deviation * deviation);  // of the logarithm
  return std::exp(std::sqrt(variance) * normal_quantile(uniform(name)) - variance / 2);
}

}  // namespace gradcast
