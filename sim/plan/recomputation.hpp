// Activations that are kept from forward to backward, and forward that is computed again instead.
#pragma once
#include <optional>

#include "sim/base/units.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/model.hpp"
#include "sim/inputs/sharding.hpp"

namespace gradcast {

/// Bytes of one sample's activations where they are most. Not given: the model does not say what
/// its layers keep.
///
/// With recomputation each unit but the last keeps its input. The most is there when backward
/// begins, with all that the last unit keeps, or when it comes to a unit, with the inputs of the
/// units up to that one and all that the unit keeps once its forward is computed again.
std::optional<Bytes> activations_of_sample(const Model& model, Recompute recompute);

/// The trace of a run that computes forward again: backward of a unit begins with the unit's
/// forward. The last unit is not computed again: backward needs its activations at once, so that
/// nothing would be saved. Throws ValueError if the model names no units.
IterationTrace with_recomputation(IterationTrace trace, const Model& model);

}  // namespace gradcast
