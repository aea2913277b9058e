// A tensor as a checkpoint or a graph has it: its name and shape, never its values.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/inputs/model.hpp"

namespace gradcast {

struct Weight {
  std::string name;                 // "model.layers.0.mlp.up_proj.weight"
  std::vector<std::int64_t> shape;  // empty for a single number
  std::string type;                 // "BF16", as safetensors calls it

  /// The product of the shape, which the readers have checked against overflow.
  std::int64_t elements() const;
};

/// The product of a shape. Throws ValueError for a size below 0, and where no model file could hold
/// the product (more than 2^31 - 1 elements) or a file no such tensor.
std::int64_t elements_of(const std::vector<std::int64_t>& shape);

/// The weight's gradient, without arithmetic. A single number is a vector of one.
GradientTensor gradient_of(const std::string& layer, const Weight& weight);

/// The name without its last part: "fc.weight" is of the layer "fc". A name of one part is a layer.
std::string layer_of(const std::string& weight);

/// The last part of a name: "weight".
std::string leaf_of(const std::string& weight);

/// Why a tensor of a checkpoint is not trained ("running_mean": a statistic, ...); "" where it is.
std::string why_not_trained(const Weight& weight);

}  // namespace gradcast
