// The number of elements of each gradient: recorded, or worked out from what was launched for it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/kineto/gradients.hpp"

namespace gradcast::kineto {

struct Sizes {
  ShapesFrom from = ShapesFrom::Unknown;
  std::vector<std::int64_t> elements;  // of each gradient in the order of readiness; empty: unknown
  std::string how;                     // for a person: "DDP's copies into its buckets"
};

/// Sizes in a step. `buckets`: elements that each all-reduce of gradients carried, in order; empty
/// if the trace does not say. `element_bytes`: of a gradient's element.
Sizes sizes_of(const StepGradients& step, const std::vector<std::int64_t>& buckets,
               int element_bytes);

/// Numbers that add up to `sum`, each at most `most` below its room and at least 1. The smallest
/// rooms give up the difference first, in equal shares: large tensors mostly fill their blocks.
/// Empty if there are no such numbers.
std::vector<std::int64_t> fitted_to_sum(const std::vector<std::int64_t>& rooms, std::int64_t sum,
                                        std::int64_t most);

}  // namespace gradcast::kineto
