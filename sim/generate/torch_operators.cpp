#include "sim/generate/torch_operators.hpp"

#include <algorithm>
#include <cmath>

namespace gradcast {

Seconds time_of(const OperatorCall& call) {
  const double n = call.elements;
  const Seconds memory{call.op.bytes_per_element * n / kV100Bandwidth.value};
  const Seconds launches = call.op.launches * kV100Launch;
  const Seconds comparisons = call.op.per_comparison * (n > 1 ? n * std::log2(n) : 0.0);
  return std::max({memory, launches, comparisons});
}

}  // namespace gradcast
