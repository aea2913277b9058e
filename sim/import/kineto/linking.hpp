// Links work on the GPU to the launch that put it there, and to the phase of the step in which that
// launch was.
#pragma once
#include <cstddef>

#include "sim/import/kineto/recording.hpp"

namespace gradcast::kineto {

/// Sorts the recording by time and gives each operation of the GPU the date and thread of its
/// launch, by their correlation. Returns how many found theirs.
std::size_t link_launches(Recording& recording);

/// Sets the phase of each operation by where it was launched: on another thread than the steps' or
/// inside a node of the backward pass; inside DDP's copying back; inside the optimizer. An
/// operation without a launch has the phase of the one before it on its stream. `step_thread` is
/// a number of Recording::threads.
void set_phases(Recording& recording, std::uint32_t step_thread);

}  // namespace gradcast::kineto
