// Makes the columns of P or Q orthonormal by Gram and Schmidt, as the definition does it, in
// doubles. One block has the whole matrix: slow, and safe whatever the matrix. gram.cuh comes
// first, and leaves to this the matrices whose columns are nearly dependent, missing, or more
// than 32.
#pragma once
#include "kernels/device/low_rank_batch.cuh"
#ifndef __CUDACC__
#include "kernels/normal_quantile.hpp"
#endif

namespace gradcast::GRADCAST_DEVICE {

#ifdef __CUDACC__
__device__ __forceinline__ double quantile_here(double probability) {
  return normcdfinv(probability);
}
#else
inline double quantile_here(double probability) { return normal_quantile(probability); }
#endif

struct TwoSums {
  double first, second;
};

/// Over all threads of the block.
__device__ __forceinline__ TwoSums block_sums(double first, double second, BlockScratch& scratch) {
  const Moments sums = block_tree({first, second, 0, 0}, scratch);
  return {sums.sum, sums.squares};
}

/// Draws the columns of Q that are zero or not finite. Whether there was one: all threads know.
__device__ inline bool draw_missing_columns(const LowRankSegment& segment, std::uint64_t seed,
                                            BlockScratch& scratch) {
  const std::int64_t rank = segment.rank;
  bool drawn = false;
  for (int c = 0; c < segment.rank; ++c) {
    std::uint32_t found = 0;
    for (std::int64_t i = threadIdx.x; i < segment.columns; i += kBlockThreads) {
      const float value = segment.q[i * rank + c];
      found |= (value != 0.0f ? 1u : 0u) | (is_finite(value) ? 0u : 2u);
    }
    // Sums of both: of each bit the number of threads that found it.
    const auto both = block_scan((found & 1u) | (found & 2u) << 15, scratch).total;
    const bool missing = (both & 0xffffu) == 0 || both >> 16 != 0;
    if (!missing) continue;
    drawn = true;
    for (std::int64_t i = threadIdx.x; i < segment.columns; i += kBlockThreads)
      segment.q[i * rank + c] =
          static_cast<float>(quantile_here(probability_of_draw(seed, i * rank + c)));
  }
  return drawn;
}

/// Columns that a pass takes another one out of.
inline constexpr int kTakenFrom = 3;

/// A matrix, rows x rank, row by row; and its columns apart, of doubles. A thread has the same rows
/// in all passes.
class Orthonormal {
 public:
  __device__ Orthonormal(float* matrix, std::int32_t rows, std::int32_t rank, double* apart,
                         BlockScratch& scratch)
      : matrix_(matrix), rows_(rows), rank_(rank), apart_(apart), scratch_(scratch) {}

  __device__ void make(double epsilon) {
    TwoSums squares = set_apart();
    for (int c = 0; c < rank_; ++c) {
      const TwoSums sums = block_sums(squares.first, squares.second, scratch_);
      const double norm = std::sqrt(sums.first);
      const bool rounding = is_rounding(norm, std::sqrt(sums.second));
      squares = finish_column(c, rounding ? 0 : norm, norm / (norm + epsilon));
    }
  }

 private:
  __device__ double& at(std::int64_t i, int c) {
    return apart_[c * static_cast<std::int64_t>(rows_) + i];
  }
  __device__ double before(std::int64_t i, int c) const {
    return static_cast<double>(matrix_[i * rank_ + c]);
  }

  /// This thread's squares of the first column.
  __device__ TwoSums set_apart() {
    double sum = 0;
    for (std::int64_t i = threadIdx.x; i < rows_; i += kBlockThreads)
      for (int c = 0; c < rank_; ++c) {
        const double value = before(i, c);
        at(i, c) = value;
        if (c == 0) sum += value * value;
      }
    return {sum, sum};
  }

  /// Divides column c by its norm (0: it becomes zero), writes it, and takes it out of the columns
  /// behind it. Returns this thread's squares of the next column: of what is left, and of the
  /// whole.
  __device__ TwoSums finish_column(int c, double norm, double kept) {
    TwoSums next{0, 0};
    int first = c + 1;
    do {
      double products[kTakenFrom] = {};
      for (std::int64_t i = threadIdx.x; i < rows_; i += kBlockThreads) {
        double value = at(i, c);
        if (first == c + 1) {
          value = norm == 0 ? 0.0 : value / norm;
          at(i, c) = value;
          matrix_[i * rank_ + c] = value == 0 ? 0.0f : static_cast<float>(value * kept);
        }
        GRADCAST_UNROLL
        for (int k = 0; k < kTakenFrom; ++k)
          if (first + k < rank_) products[k] += value * at(i, first + k);
      }
      if (first >= rank_) break;
      const TwoSums two = block_sums(products[0], products[1], scratch_);
      const double third = first + 2 < rank_ ? block_sums(products[2], 0, scratch_).first : 0;
      const double shares[kTakenFrom] = {two.first, two.second, third};
      for (std::int64_t i = threadIdx.x; i < rows_; i += kBlockThreads) {
        const double value = at(i, c);
        GRADCAST_UNROLL
        for (int k = 0; k < kTakenFrom; ++k) {
          if (first + k >= rank_) continue;
          const double left = at(i, first + k) - shares[k] * value;
          at(i, first + k) = left;
          if (first + k != c + 1) continue;
          next.first += left * left;
          next.second += before(i, c + 1) * before(i, c + 1);
        }
      }
      first += kTakenFrom;
    } while (first < rank_);
    return next;
  }

  float* matrix_;
  std::int32_t rows_;
  std::int32_t rank_;
  double* apart_;
  BlockScratch& scratch_;
};

}  // namespace gradcast::GRADCAST_DEVICE
