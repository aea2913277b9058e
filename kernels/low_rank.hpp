// How much PowerSGD sends of a matrix. Vogels, Karimireddy & Jaggi, "PowerSGD: Practical Low-Rank
// Gradient Compression for Distributed Optimization", NeurIPS 2019, Algorithm 1.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/selection.hpp"

namespace gradcast {

/// A gradient tensor as a matrix: its first dimension by all others. A vector has one column.
struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t columns = 1;
};

/// Numbers that a tensor sends in each of the two all-reduces, the second of which needs the first.
struct LowRankNumbers {
  std::int64_t first = 0;   // P, rows x rank; or the whole tensor where it is not compressed
  std::int64_t second = 0;  // Q, columns x rank; 0 where it is not compressed
  bool compressed() const { return second > 0; }
};

/// PyTorch's hook compresses a tensor only where that makes it smaller by more than this
/// (`min_compression_rate` of PowerSGDState).
inline constexpr std::int64_t kPytorchLeastRate = 2;

/// The rank that a matrix has at most.
inline std::int64_t rank_of(const MatrixShape& shape, std::int64_t rank) {
  return std::min({rank, shape.rows, shape.columns});
}

/// Mode::Paper, as the authors' code: every matrix is compressed. Mode::Code, as PyTorch's hook
/// (powerSGD_hook.py): where (rows + columns) x rank x 2 < rows x columns. A vector never is.
inline LowRankNumbers low_rank_numbers(const MatrixShape& shape, std::int64_t rank, Mode mode) {
  const std::int64_t all = shape.rows * shape.columns;
  const bool vector = shape.columns <= 1;
  const bool pays =
      mode == Mode::Paper || (shape.rows + shape.columns) * rank * kPytorchLeastRate < all;
  if (vector || !pays) return {all, 0};
  return {shape.rows * rank_of(shape, rank), shape.columns * rank_of(shape, rank)};
}

}  // namespace gradcast
