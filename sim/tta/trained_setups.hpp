// Trainings that differ in their seed alone, brought together.
#pragma once
#include <string>
#include <vector>

#include "sim/tta/training_file.hpp"

namespace gradcast {

struct TrainedSetup {
  TrainingSetup setup;
  std::vector<TrainingRun> seeds;  // rising seeds, each once

  /// "dense", "topk", "gaussian (code)"; with the density where `with_density`.
  std::string name(bool with_density) const;
  /// The median over the seeds of the best accuracy that each reached, in percent.
  double best_percent() const;
  /// The elements that a worker sent, as a share of the k that the density asks for: the mean over
  /// the seeds that say so. nullopt where nothing is selected, and where nobody does. Forecasts
  /// send as much.
  std::optional<double> sent_share() const;
};

struct TrainedSetups {
  std::vector<TrainedSetup> all;  // dense first, then as the files have them

  const TrainedSetup* dense() const;
  const TrainingSetup& common() const {
    return all.front().setup;
  }  // network, data, workers, batch
  /// The name of one, with its density where others of its compressor have another.
  std::string name(const TrainedSetup& one) const;
};

/// Throws DataError where two are the same training, or where network, data set, workers or batch
/// differ: iterations depend on each of these, so that a comparison would be of no compressor.
TrainedSetups trained_setups(const std::vector<TrainingRun>& runs);

}  // namespace gradcast
