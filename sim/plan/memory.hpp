// Memory that a run takes on each GPU.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "sim/plan/plan.hpp"

namespace gradcast {

/// Bytes a GPU. The framework and what an allocator wastes are not in it.
///
/// E elements take this, if a parameter has p bytes, a gradient g and the optimizer's state o (see
/// `state_bytes`), and N ranks share a copy (ZeRO, SC 2020, figure 1):
///   none: p E + g E + o E          zero1: p E + g E + o E / N
///   zero2: p E + (g + o) E / N     fsdp: (p + g + o) E / N
/// Gradients that add up over micro-steps before they are sent are whole on every rank. Beside them
/// stand the buckets that gradients are copied into, where they are.
struct MemoryUse {
  Bytes parameters{};
  Bytes gradients{};
  Bytes optimizer{};
  /// Buckets that gradients are copied into before they are sent: of all gradients by PyTorch's DDP
  /// and by planned mergings, the fusion buffer by Horovod, the largest bucket of a given size.
  Bytes buckets{};
  /// Data that is whole for a while: FSDP's gathered units (the one in use and those ahead of it)
  /// and the gradients of the largest unit; the largest bucket of ZeRO-2.
  Bytes unsharded{};
  /// Error feedback: 4 bytes for each element that the rank encodes. With fp32 gradients that
  /// doubles them.
  Bytes residual{};
  /// Payloads that compressors send and receive in an iteration.
  Bytes compressor{};
  /// Kept by forward of one micro-step for its backward.
  Bytes activations{};
  /// False: the model does not say what its layers keep. Then `activations` is 0.
  bool activations_known = true;

  Bytes total() const {
    return parameters + gradients + optimizer + buckets + unsharded + residual + compressor +
           activations;
  }
};

/// A part of it, with the word under which results have it.
struct MemoryPart {
  std::string_view name;
  std::string_view help;
  Bytes MemoryUse::*part;
};

const std::vector<MemoryPart>& memory_parts();

/// Memory of the rank with the largest shard. `plan` is the scenario's. A collective alone keeps
/// nothing.
MemoryUse memory_of(const Scenario& scenario, const Plan& plan);

/// The share of a GPU's memory that a run cannot use: the context of CUDA or HIP, buffers of
/// collectives and of matrix products, and what the allocator leaves unused. Assumed;
/// docs/guide.md ("What to change") holds it against a published run.
inline constexpr double kReservedMemory = 0.1;

/// The rest of it.
Bytes usable_memory(Bytes gpu_memory);

/// The largest batch of an iteration with which the run takes no more than `room`; 0: none. Only
/// activations grow with it. Not given: activations are not known.
std::optional<int> largest_batch(const Scenario& scenario, const MemoryUse& use, Bytes room);

}  // namespace gradcast
