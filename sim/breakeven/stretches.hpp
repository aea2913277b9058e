// The verdict along a range: where a compressor surely pays, where it surely does not, and where it
// cannot be told.
#pragma once
#include <vector>

#include "sim/breakeven/finding.hpp"
#include "sim/forecast/verdict.hpp"

namespace gradcast {

/// Both ends belong to it. Whole numbers: the next stretch begins at the next number.
struct VerdictStretch {
  double from = 0;
  double to = 0;
  Pays pays = Pays::CannotBeTold;
};

/// The verdicts in rising order, from the first to the last value that has an answer. Physics alone
/// has no error of its own, so there it cannot be told. `costs_known`: as pays_by has it.
std::vector<VerdictStretch> stretches_of(const Finding& finding, bool costs_known);

}  // namespace gradcast
