#include "sim/import/roofline.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradcast {
namespace {

Seconds bound(const RooflinePeaks& device, double flops, double elements_moved) {
  const double bytes = elements_moved * device.element_bytes;
  return Seconds{std::max(flops / device.flops_per_second, bytes / device.bandwidth.value)};
}

/// Times that an operator without a matrix product reads or writes its activations.
struct TensorPasses {
  double forward_in, forward_out, backward_in, backward_out;
};

TensorPasses passes_of(OperatorKind kind) {
  switch (kind) {
    // Forward reads for the statistics and again to normalise, and writes. Backward reads input and
    // gradient for the sums, both again for the gradient, and writes it.
    case OperatorKind::BatchNorm:
      return {2, 1, 3, 2};
    // In place: read, write. Backward reads output and gradient, and writes.
    case OperatorKind::Relu:
      return {1, 1, 1, 2};
    case OperatorKind::Pool:
      return {1, 1, 1, 1};
    // Two inputs are read, one output written; the gradient goes to both as it is.
    case OperatorKind::Add:
      return {2, 1, 0, 0};
    // One kernel each, which keeps a row on the chip: read, write. Backward reads input and
    // gradient, and writes. The gate of a SwiGLU is a second half of its input.
    case OperatorKind::LayerNorm:
    case OperatorKind::Activation:
      return {1, 1, 2, 1};
    // Every channel is copied, and its gradient copied back.
    case OperatorKind::Concatenate:
      return {1, 1, 1, 1};
    case OperatorKind::Convolution:
    case OperatorKind::Linear:
    case OperatorKind::Lstm:
    case OperatorKind::Embedding:
    case OperatorKind::Attention:
      break;
  }
  throw std::logic_error("an operator with weights is not counted in passes");
}

/// Elements of weights that one pass over the batch reads. The weights of an LSTM that work on its
/// own output are read anew at every step: the step before must be done.
double weights_read(const Operator& each) {
  const auto parameters = static_cast<double>(each.parameters());
  if (each.kind != OperatorKind::Lstm) return parameters;
  const auto recurrent = 4.0 * static_cast<double>(each.out.channels * each.out.channels);
  return parameters + recurrent * static_cast<double>(each.out.width - 1);
}

}  // namespace

std::int64_t Operator::parameters() const {
  std::int64_t sum = 0;
  for (const GradientTensor& tensor : tensors) sum += tensor.elements;
  return sum;
}

std::vector<GradientTensor> tensors_of(const std::vector<Operator>& operators) {
  std::vector<GradientTensor> tensors;
  for (const Operator& each : operators)
    tensors.insert(tensors.end(), each.tensors.begin(), each.tensors.end());
  return tensors;
}

ComputeTime roofline(const Operator& each, double batch, bool first, const RooflinePeaks& device) {
  const double in = batch * static_cast<double>(each.in.elements());
  const double out = batch * static_cast<double>(each.out.elements());
  // Forward copies the rows that the input names. Backward fills a gradient of the whole table with
  // zeros, and adds those rows to it.
  if (each.kind == OperatorKind::Embedding)
    return {bound(device, 0, 2 * out),
            bound(device, 0, static_cast<double>(each.parameters()) + 3 * out)};
  if (each.kind == OperatorKind::Convolution || each.kind == OperatorKind::Linear ||
      each.kind == OperatorKind::Lstm || each.kind == OperatorKind::Attention) {
    // Forward, the weights' gradient and the input's gradient: the same product thrice, each of
    // which moves input, output and weights once.
    const double flops = 2.0 * static_cast<double>(each.multiply_accumulates) * batch;
    const Seconds product = bound(device, flops, in + out + weights_read(each));
    return {product, first ? product : 2 * product};
  }
  const TensorPasses passes = passes_of(each.kind);
  return {bound(device, 0, passes.forward_in * in + passes.forward_out * out),
          bound(device, 0, passes.backward_in * in + passes.backward_out * out)};
}

std::vector<ComputeTime> roofline_times(const std::vector<Operator>& operators, double batch,
                                        const RooflinePeaks& device) {
  std::vector<ComputeTime> times;
  for (const Operator& each : operators) {
    const ComputeTime time = roofline(each, batch, times.empty(), device);
    if (!each.tensors.empty() || times.empty()) times.emplace_back();
    times.back().forward += time.forward;
    times.back().backward += time.backward;
  }
  return times;
}

std::vector<TensorTime> tensor_times(const std::vector<Operator>& operators,
                                     const std::vector<ComputeTime>& times) {
  std::vector<TensorTime> all;
  std::size_t layer = 0;
  for (const Operator& each : operators) {
    if (each.tensors.empty()) continue;
    for (std::size_t i = 0; i < each.tensors.size(); ++i) {
      const bool first = i == 0;
      const bool last = i + 1 == each.tensors.size();
      all.push_back({each.tensors[i].tensor, first ? times[layer].forward : Seconds{0},
                     last ? times[layer].backward : Seconds{0}});
    }
    ++layer;
  }
  return all;
}

}  // namespace gradcast
