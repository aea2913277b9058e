// Random numbers in a row, as a Markov chain wants them. Those of base/random.hpp have names
// instead.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace gradcast {

/// Numbers of a seed. The library's own distributions differ between libraries.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  /// Between 0 and 1, never either.
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    const double distance = std::sqrt(-2 * std::log(uniform()));
    return distance * std::cos(2 * std::numbers::pi * uniform());
  }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(count));
  }
  /// Takes a step of this logarithm of a ratio of probabilities.
  bool takes(double log_ratio) { return log_ratio >= 0 || std::log(uniform()) < log_ratio; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace gradcast
