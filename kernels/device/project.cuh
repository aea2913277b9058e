// PowerSGD's two products of u with a thin matrix: P = u Q, which forms u on its way, and
// Q = u^T P. Every element of u is read once, and meets four columns at a time.
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
  as_typed(segment.gradient, [&](const auto& gradient) {
    GRADCAST_UNROLL
    for (int i = 0; i < kFlatElements / kBlockThreads; ++i) {
      const std::int64_t at = first + i * kBlockThreads + threadIdx.x;
      if (at >= segment.elements) break;
      const float u = add_feedback(gradient[at], segment.residual[at]);
      unfinite = unfinite || !is_finite(u);
      segment.p[at] = u;
      segment.residual[at] = 0.0f;
    }
  });
  if (unfinite) or_atomic(segment.status, kNotFinite);
}

/// A warp's strip: forms u, and multiplies it with all columns of Q.
template <bool kQuads, int kColumns>
__device__ __forceinline__ void project_strip(const LowRankSegment& segment, int block,
                                              StripSums& shared) {
  const Grid grid = segment.project;
  const Place place = place_of_warp(segment, grid, block, kStripRows, kColumns * kLanes);
  const int part = grid.blocks_across == 1 ? 0 : (block - grid.first_block) % grid.blocks_across;
  float* to = segment.p_parts + static_cast<std::int64_t>(part) * segment.rows * segment.rank;
  const int lane = lane_of_thread();
  const int warp = warp_of_thread();
  const int abreast = 1 << grid.abreast_bits;
  // Beyond the matrix its last row and column are repeated, as zeros.
  std::int32_t column[kColumns];
  GRADCAST_UNROLL
  for (int k = 0; k < kColumns; ++k)
    column[k] = lesser(place.column + k * kLanes + lane, segment.columns - 1);
  const auto row_of = [&](int r) {
    return lesser(place.row + r, segment.rows - 1) * segment.columns;
  };
  float u[kStripRows][kColumns];
  bool unfinite = false;
  as_typed(segment.gradient, [&](const auto& gradient) {
    GRADCAST_UNROLL
    for (int r = 0; r < kStripRows; r += 2) {
      float g[2][kColumns];
      GRADCAST_UNROLL
      for (int h = 0; h < 2; ++h) GRADCAST_UNROLL
      for (int k = 0; k < kColumns; ++k) {
        g[h][k] = gradient[row_of(r + h) + column[k]];
        u[r + h][k] = segment.residual[row_of(r + h) + column[k]];
      }
      GRADCAST_UNROLL
      for (int h = 0; h < 2; ++h) GRADCAST_UNROLL
      for (int k = 0; k < kColumns; ++k) {
        send_loads_before(g[h][k]);
        send_loads_before(u[r + h][k]);
      }
      GRADCAST_UNROLL
      for (int h = 0; h < 2; ++h) GRADCAST_UNROLL
      for (int k = 0; k < kColumns; ++k) {
        const bool inside = place.row + r + h < place.row_end &&
                            place.column + k * kLanes + lane < place.column_end;
        const float sum = add_feedback(g[h][k], u[r + h][k]);
        if (inside) segment.residual[row_of(r + h) + column[k]] = sum;
        unfinite = unfinite || (inside && !is_finite(sum));
        u[r + h][k] = inside ? sum : 0.0f;
      }
    }
  });
  for (int rank_tile = 0; rank_tile < segment.rank; rank_tile += kRankTile) {
    float sums[kStripSums] = {};
    constexpr int kTogether = kColumns < 4 ? kColumns : 4;  // rows of Q that are read at once
    GRADCAST_UNROLL
    for (int k = 0; k < kColumns; k += kTogether) {
      float q[kTogether][kRankTile];
      GRADCAST_UNROLL
      for (int i = 0; i < kTogether; ++i)
        read_row<kQuads>(segment.q, column[k + i], segment.rank, rank_tile, q[i]);
      GRADCAST_UNROLL
      for (int i = 0; i < kTogether; ++i) GRADCAST_UNROLL
      for (int r = 0; r < kStripRows; ++r) GRADCAST_UNROLL
      for (int c = 0; c < kRankTile; ++c)
        sums[r * kRankTile + c] = fmaf(u[r][k + i], q[i][c], sums[r * kRankTile + c]);
    }
    float sum = sums_of_lanes(sums);
    if (grid.abreast_bits > 0) {
      if (lane % 2 == 0) shared.of_warp[warp][lane / 2] = sum;
      block_barrier();
      sum = 0;
      for (int w = 0; w < abreast; ++w)
        sum += shared.of_warp[(warp & ~(abreast - 1)) + w][lane / 2];
      block_barrier();
    }
    const std::int64_t row = place.row + lane / 2 / kRankTile;
    const int c = rank_tile + lane / 2 % kRankTile;
    if ((warp & (abreast - 1)) == 0 && lane % 2 == 0 && row < place.row_end && c < segment.rank)
      to[row * segment.rank + c] = sum;
  }
  if (unfinite) or_atomic(segment.status, kNotFinite);
}

inline __global__ void __launch_bounds__(kBlockThreads, 2) project(const LowRankBatch batch) {
  StripSums& shared = shared_memory<StripSums>();
  const auto block = static_cast<int>(blockIdx.x);
  const LowRankSegment segment = segment_of(batch, batch.project_segment[block]);
  if (segment.rank == 0) return send_whole(segment, block);
  if (segment.short_strips) {
    segment.quads ? project_strip<true, kShortStripColumns>(segment, block, shared)
                  : project_strip<false, kShortStripColumns>(segment, block, shared);
  } else {
    segment.quads ? project_strip<true, kStripColumns>(segment, block, shared)
                  : project_strip<false, kStripColumns>(segment, block, shared);
  }
}

struct ColumnSums {
  float of_warp[kBlockWarps][kColumnsOfBlock * kRankTile];
};
static_assert(kColumnsOfBlock * kRankTile == kBlockThreads);

template <bool kQuads>
__device__ __forceinline__ void project_columns(const LowRankSegment& segment, int block,
                                                ColumnSums& shared) {
  const int part = block - segment.project_back.first_block;
  const std::int32_t across = segment.project_back.blocks_across;
  const std::int32_t first_column = part % across * kColumnsOfBlock;
  const std::int64_t first_row = static_cast<std::int64_t>(part / across) * kRowsOfBlock;
  const std::int64_t rank = segment.rank;
  const std::int64_t columns = segment.columns;
  const std::int32_t row = lesser(first_row + warp_of_thread() * kRunRows, segment.rows);
  float* to = segment.q_parts + part / across * columns * rank;
  const int lane = lane_of_thread();
  // Lanes beyond the last column repeat it, and nobody takes their sums. Rows beyond the last one
  // repeat that, as zeros.
  const std::int32_t at[kSideColumns] = {lesser(first_column + lane, segment.columns - 1),
                                         lesser(first_column + kLanes + lane, segment.columns - 1)};
  float u[kRunRows][kSideColumns];
  GRADCAST_UNROLL
  for (int i = 0; i < kRunRows; ++i) GRADCAST_UNROLL
  for (int h = 0; h < kSideColumns; ++h)
    u[i][h] = segment.residual[lesser(row + i, segment.rows - 1) * segment.columns + at[h]];
  GRADCAST_UNROLL
  for (int i = 0; i < kRunRows; ++i) GRADCAST_UNROLL
  for (int h = 0; h < kSideColumns; ++h) send_loads_before(u[i][h]);
  GRADCAST_UNROLL
  for (int i = 0; i < kRunRows; ++i) GRADCAST_UNROLL
  for (int h = 0; h < kSideColumns; ++h)
    if (row + i >= segment.rows) u[i][h] = 0;
  for (int rank_tile = 0; rank_tile < segment.rank; rank_tile += kRankTile) {
    float sums[kSideColumns][kRankTile] = {};
    constexpr int kTogether = 4;  // rows of P that are read at once
    GRADCAST_UNROLL
    for (int first = 0; first < kRunRows; first += kTogether) {
      float p[kTogether][kRankTile];
      GRADCAST_UNROLL
      for (int i = 0; i < kTogether; ++i)
        read_row<kQuads>(segment.p, lesser(row + first + i, segment.rows - 1), segment.rank,
                         rank_tile, p[i]);
      GRADCAST_UNROLL
      for (int i = 0; i < kTogether; ++i) GRADCAST_UNROLL
      for (int h = 0; h < kSideColumns; ++h) GRADCAST_UNROLL
      for (int c = 0; c < kRankTile; ++c) sums[h][c] = fmaf(u[first + i][h], p[i][c], sums[h][c]);
    }
    GRADCAST_UNROLL
    for (int h = 0; h < kSideColumns; ++h) GRADCAST_UNROLL
    for (int c = 0; c < kRankTile; ++c)
      shared.of_warp[warp_of_thread()][(h * kLanes + lane) * kRankTile + c] = sums[h][c];
    block_barrier();
    float sum = 0;
    GRADCAST_UNROLL
    for (int w = 0; w < kBlockWarps; ++w) sum += shared.of_warp[w][threadIdx.x];
    block_barrier();
    const std::int64_t column = first_column + static_cast<int>(threadIdx.x) / kRankTile;
    const int c = rank_tile + static_cast<int>(threadIdx.x) % kRankTile;
    if (column < columns && c < rank) to[column * rank + c] = sum;
  }
}

inline __global__ void __launch_bounds__(kBlockThreads, 2) project_back(const LowRankBatch batch) {
  ColumnSums& shared = shared_memory<ColumnSums>();
  const auto block = static_cast<int>(blockIdx.x);
  const LowRankSegment segment = segment_of(batch, batch.project_back_segment[block]);
  segment.quads ? project_columns<true>(segment, block, shared)
                : project_columns<false>(segment, block, shared);
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
