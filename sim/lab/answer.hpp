// The answer of `gradcast train`.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/lab/bound_checks.hpp"
#include "sim/lab/training.hpp"

namespace gradcast::lab {

/// A row each evaluation; the summary says how it ended and how many elements were sent. `bounds`:
/// where they were checked, else empty.
Answer training_answer(const TrainingSettings& settings, const Dataset& dataset,
                       const Training& training, const std::vector<BoundCount>& bounds);

/// All that decides the training's result, in one line: settings, data, and how products are
/// computed.
std::string identity_of(const TrainingSettings& settings, const Dataset& dataset,
                        const std::vector<InputFile>& inputs);

/// `iteration,worker,elements,density,wanted,sent`: what each worker sent in each iteration.
std::string counts_csv(const Training& training);

}  // namespace gradcast::lab
