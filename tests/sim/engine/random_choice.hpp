// Numbers and choices drawn by chance.
#pragma once
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast::scenarios {

/// Draws a whole number from `least` to `most`.
using Chance = std::function<int(int least, int most)>;

/// While it lives, all choices are drawn by this chance.
class ChosenBy {
 public:
  explicit ChosenBy(Chance chance) : before_(std::exchange(current(), std::move(chance))) {}
  ~ChosenBy() { current() = std::move(before_); }
  ChosenBy(const ChosenBy&) = delete;
  ChosenBy& operator=(const ChosenBy&) = delete;

  static Chance& current() {
    static Chance chance;
    return chance;
  }

 private:
  Chance before_;
};

inline int number(int least, int most) { return ChosenBy::current()(least, most); }

/// Shrinks to no.
inline bool chance(int percent) { return number(0, 99) >= 100 - percent; }

template <class Value>
Value one_of(const std::vector<Value>& values) {
  return values[static_cast<std::size_t>(number(0, static_cast<int>(values.size()) - 1))];
}

/// Two digits, evenly spread over orders of magnitude: 1.0e(least) to 9.9e(most).
inline double rough(int least_exponent, int most_exponent) {
  return number(10, 99) / 10.0 * std::pow(10, number(least_exponent, most_exponent));
}

inline Seconds rough_time(int least_exponent, int most_exponent) {
  return Seconds{rough(least_exponent, most_exponent)};
}

inline Seconds time_or_none(int least_exponent, int most_exponent) {
  return chance(75) ? rough_time(least_exponent, most_exponent) : Seconds{0};
}

inline BytesPerSecond rate() { return {rough(8, 10)}; }

}  // namespace gradcast::scenarios
