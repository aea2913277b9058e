// Runs that are no plain data parallelism, which gradcast does not forecast.
#pragma once
#include <vector>

#include "sim/import/kineto/collectives.hpp"

namespace gradcast::kineto {

/// Throws DataError with the reason where the collectives tell of anything but data parallelism:
/// all-to-all (experts, embedding tables), send and receive (pipelines), gathered or scattered
/// gradients (FSDP, ZeRO), all-reduces within a part of the ranks (tensor parallelism). Where the
/// trace names the data-parallel group, only that group's collectives are looked at.
void refuse_hybrids(const Recording& recording, const std::vector<StepCollectives>& steps,
                    int world_size);

}  // namespace gradcast::kineto
