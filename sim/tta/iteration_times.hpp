// What an iteration of each trained setup takes on the cluster that is asked about: by physics
// alone, and with fitted software.
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
  // Where the training did not send k: what an iteration would take if it had.
  std::optional<Seconds> physics_of_k{};
  std::optional<Seconds> fitted_of_k{};
};

/// What is asked of gradcast breakeven's machinery, with the batch of the trainings.
BreakEvenAsked contest_of(const TtaAsked& asked, const TrainedSetups& setups);

/// One for each setup, in their order, each sending what its trainings sent. Dense runs by the best
/// or the same schedule, as asked. Throws ValueError where the cluster has not as many ranks as
/// there were workers, or the model is not the network that was trained; and what a forecast would
/// throw.
std::vector<TimedSetup> iteration_times(const TtaAsked& asked, const TrainedSetups& setups,
                                        const Engine& engine, DataFiles& files);

}  // namespace gradcast
