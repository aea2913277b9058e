// A set of times at which something is going on.
#pragma once
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast {

struct Interval {
  Seconds start{0};
  Seconds end{0};
};

class IntervalSet {
 public:
  IntervalSet() = default;
  /// The union of the intervals, which may overlap and come in any order.
  explicit IntervalSet(std::vector<Interval> intervals);

  IntervalSet minus(const IntervalSet& other) const;
  IntervalSet common(const IntervalSet& other) const;
  Seconds length() const;

 private:
  std::vector<Interval> intervals_;  // in rising order, without overlap
};

}  // namespace gradcast
