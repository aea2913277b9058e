#include "sim/generate/torch_operators.hpp"

#include <algorithm>
#include <cmath>

#include "sim/inputs/iteration_trace.hpp"

namespace gradcast {

Seconds time_of(const OperatorCall& call, const PublishedGpu& device) {
  const double n = call.elements;
  const Seconds memory{call.op.bytes_per_element * n / device.bandwidth.value};
  const Seconds launches = call.op.launches * device.launch;
  const bool compares = call.op.compares && n > 1;
  const Seconds comparisons = (compares ? n * std::log2(n) : 0.0) * device.topk_comparison;
  return std::max({memory, launches, comparisons});
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
