// The optimizer of a recorded run, by the name that PyTorch's profiler gives its step.
#pragma once
#include <optional>
#include <string>

#include "sim/import/kineto/recording.hpp"
#include "sim/inputs/sharding.hpp"

namespace gradcast::kineto {

/// "AdamW" for the steps "Optimizer.step#AdamW.step"; "" if no step is marked, or steps of several
/// classes are. Call it before marks are added that the profiler did not write.
std::string optimizer_class(const Recording& recording);

/// The optimizer of that class, where gradcast has it. SGD has momentum if its step multiplies in
/// place, as only the buffers of momentum are. Without the calls of its step nobody knows.
std::optional<Optimizer> optimizer_of(const Recording& recording, const std::string& its_class);

/// True if a kernel does it all: the steps count themselves, by an addition, and multiply nothing.
/// Apex' FusedAdam calls none of PyTorch's operators.
bool fused(const Recording& recording, const std::string& its_class);

}  // namespace gradcast::kineto
