// PowerSGD: reconstructs P Q^T, which all workers receive, and updates the residual.
#pragma once
#include "kernels/device/low_rank_batch.cuh"

namespace gradcast::GRADCAST_DEVICE {

__device__ inline void receive_whole(const LowRankSegment& segment, int block) {
  const std::int64_t first =
      static_cast<std::int64_t>(block - segment.restore.first_block) * kFlatElements;
  as_typed(segment.dense, [&](const auto& dense) {
    GRADCAST_UNROLL
    for (int i = 0; i < kFlatElements / kBlockThreads; ++i) {
      const std::int64_t at = first + i * kBlockThreads + threadIdx.x;
      if (at < segment.elements) dense.write(at, segment.p[at]);
    }
  });
}

/// Products that are added up as a chain of floats; chains are added to one another. With 1024
/// columns 32 chains of 32 products have the least rounding.
inline constexpr int kChain = 32;

/// A warp's tile. `kChains`: there are more columns than a chain has.
template <bool kQuads, bool kChains>
__device__ __forceinline__ void restore_tile(const LowRankSegment& segment, const Place& place) {
  // Beyond the matrix its last row and column are repeated, and not written.
  std::int32_t column[kSideColumns];
  GRADCAST_UNROLL
  for (int h = 0; h < kSideColumns; ++h)
    column[h] = lesser(place.column + h * kLanes + lane_of_thread(), segment.columns - 1);
  const auto row_of = [&](int i) { return lesser(place.row + i, segment.rows - 1); };
  float u[kTileRows][kSideColumns];
  const auto load = [&] {
    GRADCAST_UNROLL
    for (int i = 0; i < kTileRows; ++i) GRADCAST_UNROLL
    for (int h = 0; h < kSideColumns; ++h)
      u[i][h] = segment.residual[row_of(i) * segment.columns + column[h]];
  };
  if (!kChains) load();  // there are registers for it
  float total[kTileRows][kSideColumns] = {};
  for (int chain = 0; chain < segment.rank; chain += kChain) {
    float sums[kTileRows][kSideColumns] = {};
    GRADCAST_NO_UNROLL
    for (int rank_tile = chain; rank_tile < segment.rank && rank_tile < chain + kChain;
         rank_tile += kRankTile) {
      float q[kSideColumns][kRankTile];
      GRADCAST_UNROLL
      for (int h = 0; h < kSideColumns; ++h) {
        read_row<kQuads>(segment.q, column[h], segment.rank, rank_tile, q[h]);
        GRADCAST_UNROLL
        for (int c = 0; c < kRankTile; ++c)
          if (rank_tile + c >= segment.rank) q[h][c] = 0;
      }
      constexpr int kTogether = kChains || !kQuads ? 2 : 4;  // rows of P that are read at once
      GRADCAST_UNROLL
      for (int first = 0; first < kTileRows; first += kTogether) {
        float p[kTogether][kRankTile];
        GRADCAST_UNROLL
        for (int i = 0; i < kTogether; ++i)
          read_row<kQuads>(segment.p, row_of(first + i), segment.rank, rank_tile, p[i]);
        GRADCAST_UNROLL
        for (int i = 0; i < kTogether; ++i) GRADCAST_UNROLL
        for (int h = 0; h < kSideColumns; ++h) GRADCAST_UNROLL
        for (int c = 0; c < kRankTile; ++c)
          sums[first + i][h] = fmaf(p[i][c], q[h][c], sums[first + i][h]);
      }
    }
    GRADCAST_UNROLL
    for (int i = 0; i < kTileRows; ++i) GRADCAST_UNROLL
    for (int h = 0; h < kSideColumns; ++h) total[i][h] += sums[i][h];
    if (!kChains) break;
  }
  if (kChains) load();
  // Not the clamped addresses of the loads, which would hold registers all the while.
  as_typed(segment.dense, [&](const auto& dense) {
    GRADCAST_UNROLL
    for (int i = 0; i < kTileRows; ++i) GRADCAST_UNROLL
    for (int h = 0; h < kSideColumns; ++h) {
      const std::int32_t j = place.column + h * kLanes + lane_of_thread();
      if (place.row + i >= place.row_end || j >= place.column_end) continue;
      const std::int32_t at = (place.row + i) * segment.columns + j;
      dense.write(at, total[i][h]);
      segment.residual[at] = residual_of(u[i][h], total[i][h]);
    }
  });
}

inline __global__ void __launch_bounds__(kBlockThreads, 2) restore(const LowRankBatch batch) {
  const auto block = static_cast<int>(blockIdx.x);
  const LowRankSegment segment = segment_of(batch, batch.restore_segment[block]);
  if (segment.rank == 0) return receive_whole(segment, block);
  const Place place = place_of_warp(segment, segment.restore, block, kTileRows, kTileColumns);
  if (segment.rank > kChain) {
    segment.quads ? restore_tile<true, true>(segment, place)
                  : restore_tile<false, true>(segment, place);
  } else {
    segment.quads ? restore_tile<true, false>(segment, place)
                  : restore_tile<false, false>(segment, place);
  }
}

}  // namespace gradcast::GRADCAST_DEVICE
