// The answer to one question: where in a range does a compressor begin or stop to pay?
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
  RunForecast its;
  RunForecast other;
};

/// One value at which the winner changes.
struct BreakEven {
  /// For whole numbers: the outermost one at which the compressor still pays. Otherwise a value
  /// between the two sides.
  double at = 0;
  bool pays_above = false;
  /// Why the check did not see the winner change between 1 % below and 1 % above (whole numbers:
  /// between the neighbours); "" if it did.
  std::string unchecked{};
  /// The values around it for which the two forecasts cannot be told apart. For fitted forecasts
  /// only.
  std::optional<Stretch> interval{};
};

struct Finding {
  /// The part of the range that was searched, from the first to the last value that has an answer.
  LookedAt range;
  /// Whether it pays at the beginning of the range; nullopt if no value of the range has an answer.
  std::optional<bool> pays_at_start;
  std::vector<BreakEven> roots;  // rising
  /// The parts of the range in which the two cannot be told apart, as far as the grid shows, and
  /// about the roots. For fitted forecasts only.
  std::vector<Stretch> unsure;
  bool fitted = false;                    // the forecasts have deviations
  std::size_t unanswered = 0;             // values of the grid that have no answer
  std::string problem;                    // reasons why those have none
  std::size_t forecasts = 0;              // asked for, each value once
  std::string engine, evidence, outside;  // those of the forecasts, each different one once
  std::vector<std::string> schedules,
      against_schedules;     // schedules of the two, each different one once
  std::string outside_seen;  // terms of the stack that some of them leave at physics, each once
  std::optional<Duel> first, last;  // at the ends of the range
  std::optional<Duel> undecided;    // at a value where the two cannot be told apart

  /// The parts of the range in which it pays, both ends included.
  std::vector<std::pair<double, double>> paying() const;
  bool pays_at(double value) const;
  /// True if the two cannot be told apart anywhere from `low` to `high`.
  bool unsure_between(double low, double high) const;
};

/// Relative distance from a root, below and above, at which the winner is checked again.
inline constexpr double kCheckShare = 0.01;

/// Searches a range. `duel_at` is called once for each value.
Finding find_break_evens(const LookedAt& range, const std::function<Duel(double)>& duel_at);

}  // namespace gradcast
