#include "sim/generate/torch_operators.hpp"

#include <algorithm>
#include <cmath>

namespace gradcast {

Seconds time_of(const OperatorCall& call, const PublishedGpu& device) {
  const double n = call.elements;
  const Seconds memory{call.op.bytes_per_element * n / device.bandwidth.value};
  const Seconds launches = call.op.launches * device.launch;
  const bool compares = call.op.compares && n > 1;
  const Seconds comparisons = (compares ? n * std::log2(n) : 0.0) * device.topk_comparison;
  return std::max({memory, launches, comparisons});
}

}  // namespace gradcast
