// Holds Theorem 1 of Understanding Top-k Sparsification against every u of a training: does Top-k
// leave at most (1 - k/d)^2 of its square?
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/lab/exchange.hpp"
#include "sim/lab/layer.hpp"
#include "sim/theory/bounds.hpp"

namespace gradcast::lab {

/// Checks of one tensor, or of the whole model ("all"), over all workers and iterations.
struct BoundCount {
  std::string tensor;
  std::int64_t elements = 0;
  std::int64_t checks = 0;  // zero vectors and vectors with NaN or infinity are left out
  std::int64_t failures = 0;
  double worst_excess = 0;  // largest excess over the bound, as a share of u's square
};

class BoundChecks {
 public:
  /// k of each tensor is its share of the density, as the compressors have it.
  BoundChecks(const std::vector<ParameterTensor>& tensors, std::size_t workers, double density);

  /// Between encode and combine of an iteration.
  void look(const Exchange& exchange);

  /// The whole model first, then the tensors.
  const std::vector<BoundCount>& counts() const { return counts_; }

 private:
  std::vector<BoundCount> counts_;
  std::size_t workers_;
  double density_;
};

/// The shares of the sum of squares that exact Top-k takes and leaves. `u` must be finite and not
/// all zeros; 1 <= k <= its size.
SquareShares top_k_shares(std::span<const float> u, std::int64_t k);

}  // namespace gradcast::lab
