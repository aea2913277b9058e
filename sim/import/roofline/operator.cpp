#include "sim/import/roofline/operator.hpp"

namespace gradcast {

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

}  // namespace gradcast
