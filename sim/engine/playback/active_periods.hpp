// Finds which of many periods hold, as time goes on.
#pragma once
#include <cstddef>
#include <set>
#include <vector>

#include "sim/inputs/world.hpp"

namespace gradcast {

/// Looks at each period when it begins and when it ends, and not whenever anything changes: with
/// thousands of events that takes minutes.
class ActivePeriods {
 public:
  /// Periods have numbers: the first added is 0.
  void add(const Period& period);

  /// The numbers of those that hold, in ascending order. `now` never goes back.
  const std::set<std::size_t>& at(Seconds now);

 private:
  struct Change {
    Seconds when;
    std::size_t number;
    bool begins;
  };

  std::size_t count_ = 0;
  std::vector<Change> changes_;  // sorted by date from the first question on
  bool sorted_ = false;
  std::size_t next_ = 0;  // of changes_
  std::set<std::size_t> active_;
};

}  // namespace gradcast
