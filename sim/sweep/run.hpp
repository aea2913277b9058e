// A sweep's forecasts, made in several processes, and its answer.
#pragma once
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/sweep/rows.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/task.hpp"

namespace gradcast {

struct SweepRun {
  const SweepTasks& tasks;
  std::vector<std::size_t> numbers;  // of the tasks to do, in the order to do them
  const Engine& engine;
  std::size_t processes = 1;
  bool quiet = false;
};

/// Does what `store` lacks (nullptr: all, kept nowhere); returns all of `numbers`, by key. Throws
/// Error (130) where it is interrupted: what is done is kept.
Evaluations run_sweep(const SweepRun& run, Store* store, DataFiles& files);

/// In the three formats; the table has what the decision needs.
Answer sweep_answer(const SweepPlan& plan, const SweepTasks& tasks, const Evaluations& done);

}  // namespace gradcast
