// The sparse sets that decoding is timed with.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/compressor.hpp"

namespace gradcast {

/// Sets of P workers, of each of a point's tensors. Worker 0's are those that were selected, the
/// others' the same turned round by a share of the tensor: as many, elsewhere, rising.
class WorkerSets {
 public:
  struct Set {
    std::vector<float> values;
    std::vector<std::int32_t> indices;
  };

  /// So many bytes of sets at most; more workers than fit send the same ones again.
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

  /// `elements` and `selected` of each tensor.
  WorkerSets(const std::vector<std::int64_t>& elements, const std::vector<SparseSet>& selected,
             int workers);

  /// How many differ; worker w has set w % distinct().
  int distinct() const { return distinct_; }
  const Set& of(std::size_t tensor, int worker) const;

 private:
  int distinct_ = 1;
  std::vector<Set> sets_;
};

}  // namespace gradcast
