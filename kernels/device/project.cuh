// PowerSGD's two products of u with a thin matrix: P = u Q, which forms u on its way, and
// Q = u^T P. Every element of u is read once for up to four columns.
#pragma once
#include "kernels/device/low_rank_batch.cuh"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr int kStripSums = kStripRows * kRankTile;
static_assert(kStripSums == kLanes / 2);

struct StripSums {
  float of_warp[kBlockWarps][kStripSums];
};

/// Halves the numbers of two lanes that are 2 x kHalf apart. Each goes on with one half, and adds
/// the other lane's.
template <int kHalf>
__device__ __forceinline__ void halve(float (&numbers)[kStripSums]) {
  const bool upper = (lane_of_thread() & (2 * kHalf)) != 0;
  GRADCAST_UNROLL
  for (int i = 0; i < kHalf; ++i) {
    const float low = numbers[i];
    const float high = numbers[i + kHalf];
    numbers[i] = (upper ? high : low) + from_lane_across(upper ? low : high, 2 * kHalf);
  }
}

/// Sums over all lanes of 16 numbers in each: lane l has the sum of number l / 2. Each step halves
/// the numbers that a lane still has to add up, so it takes 16 shuffles and not 80.
__device__ __forceinline__ float sums_of_lanes(float (&numbers)[kStripSums]) {
  halve<8>(numbers);
  halve<4>(numbers);
  halve<2>(numbers);
  halve<1>(numbers);
  return numbers[0] + from_lane_across(numbers[0], 1);
}

/// u of a tensor that is sent whole; nothing stays.
__device__ inline void send_whole(const LowRankSegment& segment, int block) {
  const std::int64_t first =
      static_cast<std::int64_t>(block - segment.project.first_block) * kFlatElements;
  bool unfinite = false;
  GRADCAST_UNROLL
  for (int i = 0; i < kFlatElements / kBlockThreads; ++i) {
    const std::int64_t at = first + i * kBlockThreads + threadIdx.x;
    if (at >= segment.elements) break;
    const float u = add_feedback(segment.gradient[at], segment.residual[at]);
    unfinite = unfinite || !is_finite(u);
    segment.p[at] = u;
    segment.residual[at] = 0.0f;
  }
  if (unfinite) or_atomic(segment.status, kNotFinite);
}

/// Adds the products of a strip with columns `rank_tile` to + 3 of Q. The first pass forms u.
template <bool kFirst>
__device__ __forceinline__ void add_strip(const LowRankSegment& segment, const Place& place,
                                          int rank_tile, float (&sums)[kStripSums],
                                          bool& unfinite) {
  const int rows = place.row_end - place.row;
  const std::int64_t corner = static_cast<std::int64_t>(place.row) * segment.columns;
  GRADCAST_NO_UNROLL  // eight loads are in flight; more would need registers that are not there
      for (std::int32_t j = place.column + lane_of_thread(); j < place.column_end; j += kLanes) {
    float u[kStripRows];
    GRADCAST_UNROLL
    for (int r = 0; r < kStripRows; ++r) {
      const std::int64_t at = corner + static_cast<std::int64_t>(r) * segment.columns + j;
      u[r] = r < rows ? segment.residual[at] : 0.0f;
      if (kFirst) u[r] = add_feedback(r < rows ? segment.gradient[at] : 0.0f, u[r]);
    }
    float q[kRankTile];
    read_row(segment.q, j, segment.rank, rank_tile, q);
    GRADCAST_UNROLL
    for (int r = 0; r < kStripRows; ++r) {
      if (kFirst && r < rows) {
        segment.residual[corner + static_cast<std::int64_t>(r) * segment.columns + j] = u[r];
        unfinite = unfinite || !is_finite(u[r]);
      }
      GRADCAST_UNROLL
      for (int c = 0; c < kRankTile; ++c)
        sums[r * kRankTile + c] = fmaf(u[r], q[c], sums[r * kRankTile + c]);
    }
  }
}

inline __global__ void __launch_bounds__(kBlockThreads, 3) project(const LowRankBatch batch) {
  StripSums& shared = shared_memory<StripSums>();
  const auto block = static_cast<int>(blockIdx.x);
  const LowRankSegment segment = segment_of(batch, batch.project_segment[block]);
  if (segment.rank == 0) return send_whole(segment, block);
  const Grid grid = segment.project;
  const Place place = place_of_warp(segment, grid, block, kStripRows, kStripColumns);
  const int part = (block - grid.first_block) % grid.blocks_across;
  float* to = segment.p_parts + static_cast<std::int64_t>(part) * segment.rows * segment.rank;
  const int lane = lane_of_thread();
  const int warp = warp_of_thread();
  bool unfinite = false;
  for (int rank_tile = 0; rank_tile < segment.rank; rank_tile += kRankTile) {
    float sums[kStripSums] = {};
    if (rank_tile == 0) {
      add_strip<true>(segment, place, rank_tile, sums, unfinite);
    } else {
      add_strip<false>(segment, place, rank_tile, sums, unfinite);
    }
    float sum = sums_of_lanes(sums);
    if (grid.warps_abreast > 1) {
      if (lane % 2 == 0) shared.of_warp[warp][lane / 2] = sum;
      block_barrier();
      sum = 0;
      for (int w = 0; w < grid.warps_abreast; ++w)
        sum += shared.of_warp[warp / grid.warps_abreast * grid.warps_abreast + w][lane / 2];
      block_barrier();
    }
    const std::int64_t row = place.row + lane / 2 / kRankTile;
    const int c = rank_tile + lane / 2 % kRankTile;
    if (warp % grid.warps_abreast == 0 && lane % 2 == 0 && row < place.row_end && c < segment.rank)
      to[row * segment.rank + c] = sum;
  }
  if (unfinite) or_atomic(segment.status, kNotFinite);
}

struct ColumnSums {
  float of_warp[kBlockWarps][kColumnsOfBlock * kRankTile];
};
static_assert(kColumnsOfBlock * kRankTile == kBlockThreads);

inline __global__ void __launch_bounds__(kBlockThreads, 3) project_back(const LowRankBatch batch) {
  ColumnSums& shared = shared_memory<ColumnSums>();
  const auto block = static_cast<int>(blockIdx.x);
  const LowRankSegment segment = segment_of(batch, batch.project_back_segment[block]);
  const int part = block - segment.project_back.first_block;
  const std::int32_t across = segment.project_back.blocks_across;
  const std::int32_t first_column = part % across * kColumnsOfBlock;
  const std::int64_t first_row = static_cast<std::int64_t>(part / across) * kRowsOfBlock;
  const std::int64_t rank = segment.rank;
  const std::int64_t columns = segment.columns;
  const std::int32_t row = lesser(first_row + warp_of_thread() * kRunRows, segment.rows);
  const std::int32_t row_end = lesser(row + std::int64_t{kRunRows}, segment.rows);
  float* to = segment.q_parts + part / across * columns * rank;
  const int lane = lane_of_thread();
  // Lanes beyond the last column repeat it; nobody takes their sums.
  const std::int32_t at[2] = {
      lesser(std::int64_t{first_column} + lane, segment.columns - 1),
      lesser(std::int64_t{first_column} + kLanes + lane, segment.columns - 1)};
  for (int rank_tile = 0; rank_tile < segment.rank; rank_tile += kRankTile) {
    float sums[2][kRankTile] = {};
    GRADCAST_UNROLL_BY_4
    for (std::int32_t i = row; i < row_end; ++i) {
      const float* u = segment.residual + i * columns;
      float p[kRankTile];
      read_row(segment.p, i, segment.rank, rank_tile, p);
      GRADCAST_UNROLL
      for (int h = 0; h < 2; ++h) {
        const float value = u[at[h]];
        GRADCAST_UNROLL
        for (int c = 0; c < kRankTile; ++c) sums[h][c] = fmaf(value, p[c], sums[h][c]);
      }
    }
    GRADCAST_UNROLL
    for (int h = 0; h < 2; ++h) GRADCAST_UNROLL
    for (int c = 0; c < kRankTile; ++c)
      shared.of_warp[warp_of_thread()][(h * kLanes + lane) * kRankTile + c] = sums[h][c];
    block_barrier();
    float sum = 0;
    for (int w = 0; w < kBlockWarps; ++w) sum += shared.of_warp[w][threadIdx.x];
    block_barrier();
    const std::int64_t column = first_column + static_cast<int>(threadIdx.x) / kRankTile;
    const int c = rank_tile + static_cast<int>(threadIdx.x) % kRankTile;
    if (column < columns && c < rank) to[column * rank + c] = sum;
  }
}

/// Each thread has a number of a sum.
inline __global__ void __launch_bounds__(kBlockThreads)
    add_parts(const PartSum* sums, const std::int32_t* block_sum) {
  const PartSum sum = sums[block_sum[blockIdx.x]];
  const std::int64_t at =
      static_cast<std::int64_t>(static_cast<int>(blockIdx.x) - sum.first_block) * kBlockThreads +
      threadIdx.x;
  if (at >= sum.numbers) return;
  double total = 0;
  GRADCAST_UNROLL_BY_4
  for (std::int32_t part = 0; part < sum.count; ++part)
    total += static_cast<double>(sum.parts[part * sum.numbers + at]);
  sum.to[at] = static_cast<float>(total);
}

}  // namespace gradcast::GRADCAST_DEVICE
