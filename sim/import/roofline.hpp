// Operators of a network (shapes, arithmetic, gradient tensors), and the least time of one: its
// arithmetic at the peak, or its traffic at full bandwidth.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/iteration_trace.hpp"
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

/// An operator of a network: its shapes, its arithmetic and its gradient tensors.
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

struct ComputeTime {
  Seconds forward{0};
  Seconds backward{0};
};

/// The best rates of a device.
struct RooflinePeaks {
  double flops_per_second = 0;
  BytesPerSecond bandwidth;
  double element_bytes = 4;  // of activations and weights
};

/// The least time of a batch of so many samples. `first`: no gradient of the input is needed.
ComputeTime roofline(const Operator& each, double batch, bool first, const RooflinePeaks& device);

/// The times of every operator with parameters, with the others folded into the one before them.
std::vector<ComputeTime> roofline_times(const std::vector<Operator>& operators, double batch,
                                        const RooflinePeaks& device);

/// A layer's gradients are there when all of its backward is done, and backward comes to the last
/// tensor first: that one carries the backward time, the first the forward. `times`: one for each
/// operator with parameters.
std::vector<TensorTime> tensor_times(const std::vector<Operator>& operators,
                                     const std::vector<ComputeTime>& times);

}  // namespace gradcast
