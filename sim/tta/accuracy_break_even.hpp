// Where over a quantity the time to an accuracy breaks even with dense, beside where an iteration
// does.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/breakeven/crossings.hpp"
#include "sim/tta/iteration_times.hpp"
#include "sim/tta/iterations_needed.hpp"

namespace gradcast {

/// Where the winner changes.
struct AccuracyRoot {
  double at = 0;
  bool pays_above = false;
  /// The values around it for which the two cannot be told apart: by the forecasts' own error and,
  /// of times to an accuracy, by the spread of the trainings. Of fitted forecasts only, as in
  /// `gradcast breakeven`; nullopt too where either is not known.
  std::optional<Stretch> interval{};
};

struct AccuracyBreakEven {
  std::size_t setup = 0;
  std::optional<double> target{};  // nullopt: of an iteration
  bool fitted = false;
  LookedAt range;
  std::optional<bool> pays_at_start{};  // nullopt where nothing has an answer
  std::vector<AccuracyRoot> roots;      // rising
  std::string problem;
};

/// Of each setup but dense: by physics and fitted, of an iteration and to each target that all
/// trainings of both reached. Throws UsageError for a range that is none.
std::vector<AccuracyBreakEven> accuracy_break_evens(const TtaAsked& asked,
                                                    const TrainedSetups& setups,
                                                    const std::vector<TimedSetup>& timed,
                                                    const std::vector<double>& targets,
                                                    const Engine& engine, DataFiles& files);

}  // namespace gradcast
