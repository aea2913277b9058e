// What all workers receive with PowerSGD, P Q^T, and what stays in the residual.
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

/// The product of row i of P and row j of Q: runs of 16 as floats, the runs as doubles.
__device__ __forceinline__ float product_of_rows(const float* p, const float* q, int rank) {
  constexpr int kRun = 16;
  if (rank <= kRun) {
    float sum = p[0] * q[0];
    for (int c = 1; c < rank; ++c) sum = fmaf(p[c], q[c], sum);
    return sum;
  }
  double total = 0;
  for (int run = 0; run < rank; run += kRun) {
    float sum = 0;
    for (int c = run; c < rank && c < run + kRun; ++c) sum = fmaf(p[c], q[c], sum);
    total += static_cast<double>(sum);
  }
  return static_cast<float>(total);
}

inline __global__ void __launch_bounds__(kBlockThreads, 4) restore(const LowRankBatch batch) {
  const auto block = static_cast<int>(blockIdx.x);
  const LowRankSegment segment = batch.segments[batch.restore_segment[block]];
  if (segment.rank == 0) return receive_whole(segment, block);
  const Place place = place_of_warp(segment, segment.restore, block, kTileRows, kTileColumns);
  const std::int64_t rank = segment.rank;
  const std::int64_t columns = segment.columns;
  GRADCAST_UNROLL
  for (int h = 0; h < 2; ++h) {
    const std::int64_t j = place.column + h * kLanes + lane_of_thread();
    if (j >= place.column_end) continue;
    const float* q = segment.q + j * rank;
    GRADCAST_UNROLL_BY_4
    for (std::int32_t i = place.row; i < place.row_end; ++i) {
      const std::int64_t at = i * columns + j;
      const float u = segment.residual[at];
      const float received = product_of_rows(segment.p + i * rank, q, segment.rank);
      segment.dense[at] = received;
      segment.residual[at] = residual_of(u, received);
    }
  }
}

}  // namespace gradcast::GRADCAST_DEVICE
