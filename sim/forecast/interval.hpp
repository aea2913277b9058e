// The range in which a measurement is expected.
#pragma once
#include <algorithm>
#include <cmath>

#include "sim/base/units.hpp"

namespace gradcast {

/// The nominal share of measurements that lie within a forecast's interval.
inline constexpr double kIntervalLevel = 0.9;

/// An interval of kIntervalLevel about a forecast.
struct ForecastInterval {
  Seconds low{0};
  Seconds high{0};
};

/// Score of an interval on the logarithm of time (Gneiting and Raftery 2007): its width, and 20
/// times (2 over 1 - kIntervalLevel) the measurement's distance outside of it. Low is good.
inline double interval_score(Seconds measured, Seconds low, Seconds high) {
  const double y = std::log(measured.count());
  const double l = std::log(low.count());
  const double h = std::log(high.count());
  return h - l + 2 / (1 - kIntervalLevel) * (std::max(0.0, l - y) + std::max(0.0, y - h));
}

}  // namespace gradcast
