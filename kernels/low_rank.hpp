// Size of PowerSGD's payloads, and the columns that count. Vogels, Karimireddy & Jaggi, "PowerSGD:
// Practical Low-Rank Gradient Compression for Distributed Optimization", NeurIPS 2019, Algorithm 1.
// The definition and the kernels both read this file: C++17.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/definitions.hpp"
#include "kernels/selection.hpp"

namespace gradcast {

/// A gradient tensor as a matrix: its first dimension by all others. A vector has one column.
struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t columns = 1;
};

/// The matrix of as many elements as that, at most, whose sides differ least: whole rows.
inline MatrixShape near_square(std::int64_t elements) {
  const auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(elements)));
  return {rows, elements / rows};
}

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

/// Number added to a column's norm before the norm divides the column.
inline double epsilon_of(Mode mode) { return mode == Mode::Paper ? 1e-8 : 0; }

/// Whether what is left of a column, once the columns before it are taken out, is rounding: at most
/// 2^-20 of it, sixteen times the rounding of a float. Not so of an infinity or a NaN, which is to
/// be seen by all.
GRADCAST_BOTH bool is_rounding(double norm_left, double norm) {
  return norm_left <= norm * (1.0 / (1 << 20)) && norm < HUGE_VAL;
}

/// The probability below an element of a column of Q that is drawn: it is the normal quantile of
/// it.
GRADCAST_BOTH double probability_of_draw(std::uint64_t seed, std::int64_t at) {
  return (random_key(seed, static_cast<std::uint32_t>(at)) + 0.5) / 4294967296.0;
}

}  // namespace gradcast
