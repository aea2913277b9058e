// The range in which a measurement is expected.
#pragma once
#include "sim/base/units.hpp"

namespace gradcast {

/// The nominal share of measurements that lie within a forecast's interval.
inline constexpr double kIntervalLevel = 0.9;

/// An interval of kIntervalLevel about a forecast.
struct ForecastInterval {
  Seconds low{0};
  Seconds high{0};
};

}  // namespace gradcast
