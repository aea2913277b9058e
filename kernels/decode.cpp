#include <algorithm>

#include "kernels/compressor.hpp"
#include "kernels/definitions.hpp"

namespace gradcast {

void decode(std::span<const SparseSet> sets, std::span<float> dense) {
  std::fill(dense.begin(), dense.end(), 0.0f);
  for (const SparseSet& set : sets)
    for (std::size_t j = 0; j < set.indices.size(); ++j) {
      const std::int32_t index = set.indices[j];
      if (index < 0 || static_cast<std::size_t>(index) >= dense.size()) continue;
      float& sum = dense[static_cast<std::size_t>(index)];
      sum = add_feedback(sum, set.values[j]);  // of NaNs the one NaN, as in u
    }
}

}  // namespace gradcast
