// Counts of right answers to the two questions of a user: does compressing beat dense, and which
// method is faster?
#pragma once
#include <string>
#include <vector>

#include "sim/compare/groups.hpp"

namespace gradcast {

/// A measured speedup this close to 1, in percent, has no verdict: another day it may be the other
/// way round.
inline constexpr double kTooClosePercent = 3;

/// Verdicts on pairs: a compressed run and the fastest measured dense run of its set-up.
struct Verdicts {
  std::size_t right = 0;  // the forecast says that compressing beats dense, and it does, or neither
  std::size_t wrong = 0;
  std::size_t sure = 0;  // the interval of the forecast speedup excludes 1
  std::size_t sure_and_wrong = 0;
  std::size_t too_close = 0;  // and so neither right nor wrong, nor sure

  std::size_t pairs() const { return right + wrong; }
};

/// The verdicts on all pairs whose rows both count. Upper bounds have none.
Verdicts verdicts_of(const std::vector<ComparedRun>& runs);
/// The same for the compressed runs with this value of the aspect.
Verdicts verdicts_of(const std::vector<ComparedRun>& runs, const Aspect& aspect,
                     const std::string& value);

/// Methods that were measured this far apart, in percent, have an order.
inline constexpr double kApartPercent = 5;

/// Orders of pairs of compressed entrants of one set-up (see entrants_of).
struct MethodOrders {
  std::size_t pairs = 0;
  std::size_t right = 0;  // forecast in the same order; equal times are none
};

MethodOrders method_orders_of(const std::vector<ComparedRun>& runs);

}  // namespace gradcast
