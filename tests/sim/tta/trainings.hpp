// Trainings for tests. Their numbers are invented, as are those of the files in trainings/.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/tta/trained_setups.hpp"

namespace gradcast {

/// A training of fnn-3 with these evaluations: iterations and percent.
inline TrainingRun invented_training(const std::string& compressor, std::uint32_t seed,
                                     const std::vector<std::pair<int, double>>& tests) {
  TrainingRun run;
  run.file = compressor + ".json";
  run.setup = {"fnn-3", "fashion-mnist", compressor, "", compressor == "dense" ? 1 : 0.001, 16,
               128};
  run.seed = seed;
  for (const auto& [iteration, percent] : tests) run.tests.push_back({iteration, percent});
  return run;
}

/// The same with a seed for each number of iterations; each was first tested at half of them.
inline TrainedSetup invented_setup(const std::string& compressor,
                                   const std::vector<int>& iterations_to_85) {
  std::vector<TrainingRun> runs;
  for (const int iterations : iterations_to_85)
    runs.push_back(invented_training(compressor, static_cast<std::uint32_t>(runs.size()),
                                     {{iterations / 2, 80}, {iterations, 85}}));
  return trained_setups(runs).all.front();
}

}  // namespace gradcast
