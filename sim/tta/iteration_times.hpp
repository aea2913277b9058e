// Seconds per iteration of each trained setup on the cluster asked about: by physics alone, and
// with fitted software.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/breakeven/contestants.hpp"
#include "sim/engine/engine.hpp"
#include "sim/forecast/evaluation.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/tta/trained_setups.hpp"
#include "sim/tta/tta_asked.hpp"

namespace gradcast {

/// The forecast of one iteration, by the best of the schedules that it may choose.
struct IterationTime {
  Evaluation evaluation;
  std::string schedule;

  Seconds seconds() const { return evaluation.result.iteration; }
};

struct TimedSetup {
  Contestant contestant;
  IterationTime physics;
  std::optional<IterationTime> fitted{};
  // Seconds per iteration if the training had sent k elements. Set only if it did not.
  std::optional<Seconds> physics_of_k{};
  std::optional<Seconds> fitted_of_k{};
};

/// The command line as a question for `gradcast breakeven`, with the batch of the trainings.
BreakEvenAsked contest_of(const TtaAsked& asked, const TrainedSetups& setups);

/// One for each setup, in their order; each sends as much as its trainings did. Dense runs by the
/// best schedule or by the request's, as asked. Throws ValueError if the cluster's ranks are not as
/// many as the trainings' workers, or if the model is another network. Also throws what a forecast
/// throws.
std::vector<TimedSetup> iteration_times(const TtaAsked& asked, const TrainedSetups& setups,
                                        const Engine& engine, DataFiles& files);

}  // namespace gradcast
