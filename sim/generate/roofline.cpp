#include "sim/generate/roofline.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/generate/torch_operators.hpp"

namespace gradcast {
namespace {

/// NVIDIA's data sheet of the V100 PCIe: 14 TFLOP/s in single precision.
constexpr double kV100FlopsPerSecond = 14e12;

Seconds bound(double flops, double elements_moved) {
  const double bytes = elements_moved * sizeof(float);
  return Seconds{std::max(flops / kV100FlopsPerSecond, bytes / kV100Bandwidth.value)};
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
      break;
  }
  throw std::logic_error("a matrix product is not counted in passes");
}

}  // namespace

ComputeTime roofline(const Operator& each, int batch, bool first) {
  const double in = static_cast<double>(batch) * static_cast<double>(each.in.elements());
  const double out = static_cast<double>(batch) * static_cast<double>(each.out.elements());
  if (each.kind == OperatorKind::Convolution || each.kind == OperatorKind::Linear) {
    // Forward, the weights' gradient and the input's gradient: the same product thrice, each of
    // which moves input, output and weights once.
    const double flops =
        2.0 * static_cast<double>(each.multiply_accumulates) * static_cast<double>(batch);
    const Seconds product = bound(flops, in + out + static_cast<double>(each.parameters()));
    return {product, first ? product : 2 * product};
  }
  const Passes passes = passes_of(each.kind);
  return {bound(0, passes.forward_in * in + passes.forward_out * out),
          bound(0, passes.backward_in * in + passes.backward_out * out)};
}

}  // namespace gradcast
