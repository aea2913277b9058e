// Makes a sweep's forecasts in several processes, and its answer.
#pragma once
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/sweep/rows.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/task.hpp"

namespace gradcast {

struct SweepRun {
  const SweepTasks& tasks;
  std::vector<std::size_t> numbers;  // the tasks to do, in that order
  const Engine& engine;
  std::size_t jobs = 1;
  bool quiet = false;
};

/// Makes the forecasts that `store` lacks (nullptr: makes all, and keeps none in a file). Returns
/// all of `numbers`, by key. Throws Error (130) if it is interrupted; finished forecasts are kept.
Evaluations run_sweep(const SweepRun& run, Store* store, DataFiles& files);

/// The answer in the three formats. The table has what a decision needs; under it stands where
/// published trainings ended, and their files become inputs.
Answer sweep_answer(const SweepPlan& plan, const SweepTasks& tasks, const Evaluations& done,
                    DataFiles& files);

}  // namespace gradcast
