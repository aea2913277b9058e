#include "sim/generate/torch_operators.hpp"

#include <algorithm>
#include <cmath>

#include "sim/inputs/iteration_trace.hpp"

namespace gradcast {
namespace {

/// Bytes an element of randperm() since PyTorch 1.9, which sorts by as many random bits as make
/// equal keys rare (Randperm.cu: "Algorithm of randperm"), 8 bits a pass. It writes keys and the
/// numbers to permute, and reads the keys for all histograms and for duplicates; a pass reads and
/// writes both.
double bytes_of_permuting(double n) {
  const double bits =
      std::min(64.0, std::ceil(std::log2(n - (6 * n * n + 1) / (12 * std::log(.9)))));
  return 4 * 8 + 4 * 8 * std::ceil(bits / 8);
}

}  // namespace

Seconds time_of(const OperatorCall& call, const PublishedGpu& device) {
  const double n = call.elements;
  const bool today = device.topk_element > Seconds{0};
  const double bytes =
      call.op.permutes && today && n > 1 ? bytes_of_permuting(n) : call.op.bytes_per_element;
  const Seconds memory{bytes * n / device.bandwidth.value};
  const Seconds launches = call.op.launches * device.launch;
  if (!call.op.compares || n <= 1) return std::max(memory, launches);
  const Seconds selection =
      n * std::log2(n) * device.topk_comparison + device.topk_begin + n * device.topk_element;
  return std::max({memory, launches, selection});
}

Seconds torch_update_time(const Model& model, const PublishedGpu& device) {
  constexpr TorchOperator kSteps[] = {{"gradient += decay x parameter", 12},
                                      {"momentum *= factor", 8},
                                      {"momentum += gradient", 12},
                                      {"parameter -= rate x momentum", 12}};
  Seconds sum{0};
  for (const GradientTensor& tensor : model.tensors)
    for (const TorchOperator& step : kSteps)
      sum += time_of({step, static_cast<double>(tensor.elements)}, device);
  return rounded_to_nanosecond(sum);
}

}  // namespace gradcast
