// The sparse sets that decoding is timed with.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/compressor.hpp"

namespace gradcast {

/// The sets of P workers, for each of a point's tensors. Worker 0 has the elements that were
/// selected. Each other worker has the same indices, rotated by a share of the tensor: as many, at
/// other places, in rising order.
class WorkerSets {
 public:
  struct Set {
    std::vector<float> values;
    std::vector<std::int32_t> indices;
  };

  /// The most bytes of sets. If there are more workers than fit, the sets repeat.
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

  /// `elements` and `selected` are those of each tensor.
  WorkerSets(const std::vector<std::int64_t>& elements, const std::vector<SparseSet>& selected,
             int workers);

  /// The number of different sets; worker w has set w % distinct().
  int distinct() const { return distinct_; }
  const Set& of(std::size_t tensor, int worker) const;

 private:
  int distinct_ = 1;
  std::vector<Set> sets_;
};

}  // namespace gradcast
