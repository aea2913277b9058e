#include "sim/generate/roofline.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradcast {
namespace {

Seconds bound(const PublishedGpu& device, double flops, double elements_moved) {
  const double bytes = elements_moved * sizeof(float);
  return Seconds{std::max(flops / device.flops_per_second, bytes / device.bandwidth.value)};
}

/// How often an operator without a matrix product reads or writes its activations.
struct Passes {
  double forward_in, forward_out, backward_in, backward_out;
};

Passes passes_of(OperatorKind kind) {
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
    // Every channel is copied, and its gradient copied back.
    case OperatorKind::Concatenate:
      return {1, 1, 1, 1};
    case OperatorKind::Convolution:
    case OperatorKind::Linear:
    case OperatorKind::Lstm:
    case OperatorKind::Embedding:
      break;
  }
  throw std::logic_error("an operator with weights is not counted in passes");
}

/// How much of an operator's weights one pass over the batch reads. The weights of an LSTM that
/// work on its own output are read anew at every step: the step before must be done.
double weights_read(const Operator& each) {
  const auto parameters = static_cast<double>(each.parameters());
  if (each.kind != OperatorKind::Lstm) return parameters;
  const auto recurrent = 4.0 * static_cast<double>(each.out.channels * each.out.channels);
  return parameters + recurrent * static_cast<double>(each.out.width - 1);
}

}  // namespace

ComputeTime roofline(const Operator& each, int batch, bool first, const PublishedGpu& device) {
  const double in = static_cast<double>(batch) * static_cast<double>(each.in.elements());
  const double out = static_cast<double>(batch) * static_cast<double>(each.out.elements());
  // Forward copies the rows that the input names. Backward fills a gradient of the whole table with
  // zeros, and adds those rows to it.
  if (each.kind == OperatorKind::Embedding)
    return {bound(device, 0, 2 * out),
            bound(device, 0, static_cast<double>(each.parameters()) + 3 * out)};
  if (each.kind == OperatorKind::Convolution || each.kind == OperatorKind::Linear ||
      each.kind == OperatorKind::Lstm) {
    // Forward, the weights' gradient and the input's gradient: the same product thrice, each of
    // which moves input, output and weights once.
    const double flops =
        2.0 * static_cast<double>(each.multiply_accumulates) * static_cast<double>(batch);
    const Seconds product = bound(device, flops, in + out + weights_read(each));
    return {product, first ? product : 2 * product};
  }
  const Passes passes = passes_of(each.kind);
  return {bound(device, 0, passes.forward_in * in + passes.forward_out * out),
          bound(device, 0, passes.backward_in * in + passes.backward_out * out)};
}

}  // namespace gradcast
