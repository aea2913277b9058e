// The units of FSDP: tensors whose parameters are gathered, and whose gradients are scattered, as
// one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/inputs/fusion.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

/// Neighbouring tensors: from `first` to before `end` in the model's order.
struct ShardUnit {
  std::size_t first = 0;
  std::size_t end = 0;
  std::vector<std::size_t> tensors;  // all of them
  Bucket gradients;                  // those that are not frozen, in backward order
  Bytes parameters{};
};

/// The units that the model names. If it names none, or if a size is given, a unit ends with the
/// tensor that fills it to `least_elements` or beyond, and never inside a layer (as PyTorch's
/// size_based_auto_wrap_policy takes modules). Throws ValueError if there is neither.
std::vector<ShardUnit> shard_units(const Model& model, std::int64_t least_elements);

}  // namespace gradcast
