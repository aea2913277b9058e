// The least time of an operator: its arithmetic at the peak, or its traffic at full bandwidth.
#pragma once
#include <vector>

#include "sim/base/units.hpp"
#include "sim/import/roofline/operator.hpp"
#include "sim/inputs/iteration_trace.hpp"

namespace gradcast {

struct ComputeTime {
  Seconds forward{0};
  Seconds backward{0};
};

/// What a device reaches at the best.
struct RooflinePeaks {
  double flops_per_second = 0;
  BytesPerSecond bandwidth;
  double element_bytes = 4;  // of activations and weights
};

/// The time of a batch of so many samples. `first`: no gradient of the input is needed.
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
