// Numbers and choices drawn by chance (RapidCheck).
#pragma once
#include <rapidcheck.h>

#include <cmath>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast::scenarios {

// RapidCheck draws from a part of a range while its size is small, and its sizes grow slowly: here
// always from all of it.
inline int number(int least, int most) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, most + 1));
}

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
