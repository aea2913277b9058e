// Whether a plan can be run at all.
#pragma once
#include "sim/plan/plan.hpp"

namespace gradcast {

/// Throws std::logic_error where a step depends on itself or a later one, or a time, a speed or a
/// number of streams is none. Throws ValueError where a step takes longer than is simulated: the
/// inputs say so.
void require_ordered(const Plan& plan);

}  // namespace gradcast
