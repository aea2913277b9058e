// The workers' payloads, from which decoders are timed: sparse sets, and codes of casts and
// quantisers.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/bench/bench.hpp"
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

/// Words of 4 bytes that one worker sends of all tensors of a point.
std::int64_t payload_words(const Packing& packing, const BenchPoint& point);

/// Every worker gets a copy of its own of what was encoded: how long a decode takes does not depend
/// on the codes, but on where they lie. More than WorkerSets::kMostBytes are not made: where the
/// workers are more, worker w has copy w % this number.
int distinct_payloads(const Packing& packing, const BenchPoint& point, int workers);

/// Bytes of these copies.
std::int64_t payload_bytes(const Packing& packing, const BenchPoint& point);

}  // namespace gradcast
