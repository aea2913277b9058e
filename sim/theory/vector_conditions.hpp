// Shares that Top-k takes and leaves of one vector, at every k, and conditions for the bounds.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/theory/bounds.hpp"

namespace gradcast {

/// Magnitudes, from the largest to the smallest. Their squares are exact in doubles.
class SortedMagnitudes {
 public:
  /// The vector is not empty, and neither all zeros nor infinite.
  explicit SortedMagnitudes(std::vector<float> vector);

  std::int64_t size() const { return static_cast<std::int64_t>(magnitudes_.size()); }

  /// The shares that Top-k takes and leaves, 0 <= k <= size(). Ties do not change them.
  SquareShares at(std::int64_t k) const;

  /// pi^2(i) of the paper's Fig. 3: the square of the magnitude that `larger` others exceed, as a
  /// share of the largest square.
  double square_below_largest(std::int64_t larger) const;

  /// Every k at once.
  LorenzCheck check_lorenz() const;

  /// Fig. 3's condition: pi^2 lies under the line, pi^2(i) <= 1 - i/d, with i counted from 0. (From
  /// 1, the first element of any vector would lie above it: its pi is 1.)
  bool below_line() const;

  /// Sufficient for (1 - k/d)^2 at all k: |u|_(i)^2 / (2 (d - i) + 1) never rises, i from 1.
  bool sufficient_for_square() const;

 private:
  double square_of(std::int64_t i) const;

  std::vector<float> magnitudes_;
  double whole_ = 0;
};

}  // namespace gradcast
