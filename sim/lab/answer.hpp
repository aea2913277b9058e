// The answer of `gradcast train`.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/lab/bound_checks.hpp"
#include "sim/lab/observation.hpp"
#include "sim/lab/training.hpp"

namespace gradcast::lab {

/// Observations made during the training. A list is empty if nobody asked for it.
struct Seen {
  std::vector<BoundCount> bounds{};
  std::vector<Observation> observations{};
};

/// A row each evaluation; the summary says how it ended and how many elements were sent.
Answer training_answer(const TrainingSettings& settings, const Dataset& dataset,
                       const Training& training, const Seen& seen);

/// All that decides the training's result, in one line: settings, data, and how products are
/// computed.
std::string identity_of(const TrainingSettings& settings, const Dataset& dataset,
                        const std::vector<InputFile>& inputs);

/// Elements that each worker sent in each iteration:
/// `iteration,worker,elements,density,wanted,sent`.
std::string counts_csv(const Training& training);

}  // namespace gradcast::lab
