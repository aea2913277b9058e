// Fully sharded runs (FSDP 1 and 2, ZeRO-3): which ranks share a copy, and the units whose
// parameters are gathered and whose gradients are scattered as one.
#pragma once
#include <optional>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/kineto/gradients.hpp"
#include "sim/import/kineto/rank.hpp"

namespace gradcast::kineto {

/// The shards of steps that shard fully: backward scatters gradients and forward gathers. nullopt
/// for other steps.
std::optional<Shards> shards_of(const std::vector<StepCollectives>& steps, int world_size);

/// Throws DataError where shards are of a part of the ranks, and nothing adds up the shards of the
/// others: some other parallelism is at work.
void require_data_parallel(const Recording& recording, const Shards& shards, int world_size);

/// Sets the units of each step: the gradients that each reduce-scatter sends. FSDP2 marks where the
/// backward pass of a unit begins and names the unit; elsewhere a unit is what was done last and
/// fits the elements that were scattered. Throws DataError for a step of several backward passes.
void set_units(const Recording& recording, const std::vector<StepCollectives>& collectives,
               std::vector<StepGradients>& gradients);

/// Names the units in the model and brings each unit's tensors together. A tensor that computes
/// apart from the rest of its unit, like an output layer that is sharded with the embeddings, gives
/// its times to the tensor before it, so that the order of computing stays. `merge`: a unit becomes
/// one tensor of as many elements as were scattered.
void arrange_units(const StepGradients& step, bool merge, Model& model, IterationTrace& trace);

}  // namespace gradcast::kineto
