// An operator of a network: its shapes, its arithmetic and its gradient tensors.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/inputs/model.hpp"

namespace gradcast {

/// The shape of one sample's activations. A sequence has a height of 1, and its steps are the
/// width.
struct Shape {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;

  std::int64_t elements() const { return channels * height * width; }
};

enum class OperatorKind {
  Convolution,
  BatchNorm,
  Linear,
  Relu,
  Pool,
  Add,
  Concatenate,
  Embedding,
  Lstm,
  Attention,
  LayerNorm,
  Activation
};

struct Operator {
  OperatorKind kind = OperatorKind::Relu;
  std::string layer;  // as PyTorch names the module; "" without parameters
  Shape in;
  Shape out;
  std::int64_t multiply_accumulates = 0;  // forward, one sample
  std::vector<GradientTensor> tensors;    // their FLOPs stand on the first

  std::int64_t parameters() const;
};

/// Their gradient tensors in forward order.
std::vector<GradientTensor> tensors_of(const std::vector<Operator>& operators);

}  // namespace gradcast
