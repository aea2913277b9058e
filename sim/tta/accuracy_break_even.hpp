// Break-even with dense over a quantity: by time to an accuracy, beside that by time per iteration.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/breakeven/crossings.hpp"
#include "sim/tta/iteration_times.hpp"
#include "sim/tta/iterations_needed.hpp"

namespace gradcast {

/// A value at which the winner changes.
struct AccuracyRoot {
  double at = 0;
  bool pays_above = false;
  /// The values around it for which the two cannot be told apart, because of the forecasts' own
  /// error and, for times to an accuracy, the spread of the trainings. For fitted forecasts only,
  /// as in `gradcast breakeven`; nullopt too if either is unknown.
  std::optional<Stretch> interval{};
};

struct AccuracyBreakEven {
  std::size_t setup = 0;
  std::optional<double> target{};  // nullopt: per iteration
  bool fitted = false;
  LookedAt range;
  std::optional<bool> pays_at_start{};  // nullopt where nothing has an answer
  std::vector<AccuracyRoot> roots;      // rising
  std::string problem;
};

/// For each setup except dense: break-even by physics and by fit, per iteration and per target that
/// all trainings of both reached. Throws UsageError for an empty range.
std::vector<AccuracyBreakEven> accuracy_break_evens(const TtaAsked& asked,
                                                    const TrainedSetups& setups,
                                                    const std::vector<TimedSetup>& timed,
                                                    const std::vector<double>& targets,
                                                    const Engine& engine, DataFiles& files);

}  // namespace gradcast
