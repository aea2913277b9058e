// PowerSGD: reconstructs P Q^T, which all workers receive, and updates the residual.
#pragma once
#include "kernels/device/low_rank_batch.cuh"

namespace gradcast::GRADCAST_DEVICE {

__device__ inline void receive_whole(const LowRankSegment& segment, int block) {
  const std::int64_t first =
      static_cast<std::int64_t>(block - segment.restore.first_block) * kFlatElements;
  GRADCAST_UNROLL
  for (int i = 0; i < kFlatElements / kBlockThreads; ++i) {
    const std::int64_t at = first + i * kBlockThreads + threadIdx.x;
    if (at < segment.elements) segment.dense[at] = segment.p[at];
  }
}

/// A row of Q, and its products with rows of P.
template <bool kNarrow>
class RowOfQ;

/// A row of up to four columns, in registers.
template <>
class RowOfQ<true> {
 public:
  __device__ RowOfQ(const float* q, int rank) : rank_(rank) {
    GRADCAST_UNROLL
    for (int c = 0; c < kRankTile; ++c) q_[c] = c < rank ? q[c] : 0.0f;
  }
  __device__ __forceinline__ float times(const float* p) const {
    float row[kRankTile];
    read_row(p, 0, rank_, 0, row);
    float sum = 0;
    GRADCAST_UNROLL
    for (int c = 0; c < kRankTile; ++c) sum = fmaf(row[c], q_[c], sum);
    return sum;
  }

 private:
  float q_[kRankTile];
  int rank_;
};

/// Runs of 16 products as floats, and the runs as doubles.
template <>
class RowOfQ<false> {
 public:
  __device__ RowOfQ(const float* q, int rank) : q_(q), rank_(rank) {}
  __device__ __forceinline__ float times(const float* p) const {
    constexpr int kRun = 16;
    double total = 0;
    GRADCAST_NO_UNROLL
    for (int run = 0; run < rank_; run += kRun) {
      float sum = 0;
      GRADCAST_UNROLL_BY_4
      for (int c = run; c < rank_ && c < run + kRun; ++c) sum = fmaf(p[c], q_[c], sum);
      total += static_cast<double>(sum);
    }
    return static_cast<float>(total);
  }

 private:
  const float* q_;
  int rank_;
};

template <bool kNarrow>
__device__ inline void restore_tile(const LowRankSegment& segment, const Place& place) {
  const std::int64_t rank = segment.rank;
  GRADCAST_NO_UNROLL
  for (std::int32_t j = place.column + lane_of_thread(); j < place.column_end; j += kLanes) {
    const RowOfQ<kNarrow> q(segment.q + j * rank, segment.rank);
    GRADCAST_UNROLL_BY_4
    for (std::int32_t i = place.row; i < place.row_end; ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) * segment.columns + j;
      const float u = segment.residual[at];
      const float received = q.times(segment.p + i * rank);
      segment.dense[at] = received;
      segment.residual[at] = residual_of(u, received);
    }
  }
}

inline __global__ void __launch_bounds__(kBlockThreads, 3) restore(const LowRankBatch batch) {
  const auto block = static_cast<int>(blockIdx.x);
  const LowRankSegment segment = segment_of(batch, batch.restore_segment[block]);
  if (segment.rank == 0) return receive_whole(segment, block);
  const Place place = place_of_warp(segment, segment.restore, block, kTileRows, kTileColumns);
  if (segment.rank <= kRankTile) {
    restore_tile<true>(segment, place);
  } else {
    restore_tile<false>(segment, place);
  }
}

}  // namespace gradcast::GRADCAST_DEVICE
