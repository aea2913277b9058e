// Elements of a model that are encoded together, and what a worker keeps of them.
#pragma once
#include <cstddef>
#include <vector>

#include "kernels/low_rank.hpp"
#include "sim/lab/layer.hpp"
#include "sim/lab/settings.hpp"

namespace gradcast::lab {

/// All elements, or those of a tensor.
struct Part {
  std::size_t first;
  std::size_t elements;
  MatrixShape shape;
};

inline std::vector<Part> parts_of(const std::vector<ParameterTensor>& tensors, Scope scope) {
  std::vector<Part> parts;
  std::size_t elements = 0;
  for (const ParameterTensor& tensor : tensors) {
    parts.push_back({elements,
                     tensor.elements,
                     {static_cast<std::int64_t>(tensor.elements / tensor.columns),
                      static_cast<std::int64_t>(tensor.columns)}});
    elements += tensor.elements;
  }
  if (scope == Scope::Model) return {{0, elements, {static_cast<std::int64_t>(elements), 1}}};
  return parts;
}

/// What a worker keeps from iteration to iteration.
struct WorkerMemory {
  std::vector<float> residual;  // empty for dense, and for casts and quantisers without feedback
  std::vector<float> velocity;  // with momentum correction; else empty
  std::vector<float> query;     // PowerSGD's Q, of one tensor after another; else empty
};

}  // namespace gradcast::lab
