// The answer to one question: along a range, where does a compressor begin or stop to pay?
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/breakeven/contest.hpp"
#include "sim/breakeven/crossings.hpp"

namespace gradcast {

/// The two forecasts for one value: the compressor's and the other's.
struct Duel {
  Forecast its;
  Forecast other;
};

/// One value at which the winner changes.
struct BreakEven {
  /// Whole numbers: the outermost at which the compressor still pays. Else between the two sides.
  double at = 0;
  bool pays_above = false;
  /// Why the winner was not seen to change between 1 % below and 1 % above (whole numbers: between
  /// the neighbours); "": it was.
  std::string unchecked{};
  /// The values about it for which the two forecasts cannot be told apart: of fitted ones only.
  std::optional<Stretch> interval{};
};

struct Finding {
  /// What was looked at, from the first to the last value that has an answer.
  LookedAt range;
  /// At the range's beginning; nullopt where no value of it has an answer.
  std::optional<bool> pays_at_start;
  std::vector<BreakEven> roots;  // rising
  /// Where the two forecasts cannot be told apart, as far as the grid shows: of fitted ones only.
  std::vector<Stretch> unsure;
  bool fitted = false;         // the forecasts have deviations
  std::size_t unanswered = 0;  // values of the grid that have no answer, and why
  std::string problem;
  std::size_t forecasts = 0;              // asked for, each value once
  std::string engine, evidence, outside;  // of the forecasts, each different one once

  /// Stretches of the range in which it pays, both ends in.
  std::vector<std::pair<double, double>> paying() const;
  bool pays_at(double value) const;
  /// All of it lies where the two cannot be told apart.
  bool unsure_between(double low, double high) const;
};

/// How far beside a root the winner is looked at again.
inline constexpr double kCheckShare = 0.01;

/// Looks along a range. `duel_at` is asked for each value once.
Finding find_break_evens(const LookedAt& range, const std::function<Duel(double)>& duel_at);

}  // namespace gradcast
