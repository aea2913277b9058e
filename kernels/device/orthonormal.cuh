// Makes the columns of P or Q orthonormal: Gram and Schmidt as the definition does it, in doubles.
// A block has a matrix. P and Q are thin, so that this is little beside what reads u: the rows of a
// thread are its own, and only the sums meet.
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

/// Takes the column `from` out of the columns behind it, two by two.
__device__ inline void take_out(double* apart, std::int32_t rows, std::int32_t rank, int from,
                                BlockScratch& scratch) {
  const double* column = apart + static_cast<std::int64_t>(from) * rows;
  for (int other = from + 1; other < rank; other += 2) {
    double* a = apart + static_cast<std::int64_t>(other) * rows;
    double* b = other + 1 < rank ? a + rows : nullptr;
    double product_a = 0;
    double product_b = 0;
    for (std::int32_t i = threadIdx.x; i < rows; i += kBlockThreads) {
      product_a += column[i] * a[i];
      if (b != nullptr) product_b += column[i] * b[i];
    }
    const TwoSums shares = block_sums(product_a, product_b, scratch);
    for (std::int32_t i = threadIdx.x; i < rows; i += kBlockThreads) {
      a[i] -= shares.first * column[i];
      if (b != nullptr) b[i] -= shares.second * column[i];
    }
  }
}

/// `matrix`: rows x rank, row by row.
__device__ inline void make_orthonormal(float* matrix, std::int32_t rows, std::int32_t rank,
                                        double* apart, double epsilon, BlockScratch& scratch) {
  for (int c = 0; c < rank; ++c)
    for (std::int64_t i = threadIdx.x; i < rows; i += kBlockThreads)
      apart[c * static_cast<std::int64_t>(rows) + i] = static_cast<double>(matrix[i * rank + c]);
  for (int c = 0; c < rank; ++c) {
    double* column = apart + static_cast<std::int64_t>(c) * rows;
    double left = 0;
    double whole = 0;
    for (std::int64_t i = threadIdx.x; i < rows; i += kBlockThreads) {
      const auto before = static_cast<double>(matrix[i * rank + c]);
      left += column[i] * column[i];
      whole += before * before;
    }
    const TwoSums squares = block_sums(left, whole, scratch);
    const double norm = std::sqrt(squares.first);
    const bool rounding = is_rounding(norm, std::sqrt(squares.second));
    const double kept = norm / (norm + epsilon);
    for (std::int64_t i = threadIdx.x; i < rows; i += kBlockThreads) {
      const double value = rounding ? 0.0 : column[i] / norm;
      column[i] = value;
      matrix[i * rank + c] = value == 0 ? 0.0f : static_cast<float>(value * kept);
    }
    take_out(apart, rows, rank, c, scratch);
  }
}

/// Before P = u Q. Each block has a tensor, whose status it also clears.
inline __global__ void __launch_bounds__(kBlockThreads, 2) prepare_q(const LowRankBatch batch) {
  BlockScratch& scratch = shared_memory<BlockScratch>();
  const LowRankSegment segment = segment_of(batch, static_cast<std::int32_t>(blockIdx.x));
  if (threadIdx.x == 0) *segment.status = 0;
  if (segment.rank == 0) return;
  const bool drawn = draw_missing_columns(segment, segment.seed + *batch.round, scratch);
  if (drawn || batch.always_orthonormal)
    make_orthonormal(segment.q, segment.columns, segment.rank, segment.columns_apart, batch.epsilon,
                     scratch);
}

/// Before Q = u^T P.
inline __global__ void __launch_bounds__(kBlockThreads, 2) prepare_p(const LowRankBatch batch) {
  const LowRankSegment segment = segment_of(batch, static_cast<std::int32_t>(blockIdx.x));
  if (segment.rank == 0) return;
  make_orthonormal(segment.p, segment.rows, segment.rank, segment.columns_apart, batch.epsilon,
                   shared_memory<BlockScratch>());
}

}  // namespace gradcast::GRADCAST_DEVICE
