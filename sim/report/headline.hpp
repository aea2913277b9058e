// The head of a report: sentences, and up to three numbers.
#pragma once
#include <string>
#include <vector>

#include "sim/report/results.hpp"

namespace gradcast {

struct HeadlineNumber {
  std::string value;  // "2.4 %"
  std::string what;   // "median error of 16 forecasts"
};

struct Headline {
  std::vector<std::string> sentences;   // the verdicts
  std::vector<std::string> reasons;     // why, and how sure: folded
  std::vector<HeadlineNumber> numbers;  // three at most
};

/// The sentences of breakeven and tta if there are any. Otherwise, as far as the results hold it:
/// who wins where, how long an iteration takes, how far forecasts are off.
Headline headline_of(const std::vector<ResultFile>& results);

}  // namespace gradcast
