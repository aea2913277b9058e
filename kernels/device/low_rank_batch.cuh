// Data that the kernels of PowerSGD share: the tensors, and their division.
//
//   run       16 rows or 8 columns whose products one lane adds up: as floats, in a chain
//   strip     4 rows by 256 columns: a warp's part of P = u Q, 8 columns a lane
//   column    64 columns by 128 rows: a block's part of Q = u^T P, a run of 16 rows a warp
//   tile      16 rows by 64 columns: a warp's part of P Q^T
//
// If a matrix is wider than the strips of a block, or taller than its columns, sums are of parts,
// which a launch of its own adds up. So no block waits for another.
#pragma once
#include "kernels/device/block.cuh"
#include "kernels/low_rank.hpp"
#include "kernels/packing.hpp"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr int kRankTile = 4;  // columns of P or Q that one pass over u serves
inline constexpr int kStripRows = 4;
inline constexpr int kStripColumns = 8 * kLanes;
inline constexpr int kColumnsOfBlock = 2 * kLanes;
inline constexpr int kRunRows = 16;
inline constexpr int kRowsOfBlock = kBlockWarps * kRunRows;
inline constexpr int kTileColumns = 2 * kLanes;
inline constexpr int kTileRows = 16;
inline constexpr int kFlatElements =
    8 * kBlockThreads;  // of a tensor that is sent whole: a block's

/// Layout of a kernel's blocks on a matrix.
struct Grid {
  std::int32_t first_block;
  std::int32_t blocks_across;  // that lie side by side, along the columns
  std::int32_t warps_abreast;  // of a block, likewise; the others lie below
};

/// A tensor as the kernels see it.
struct LowRankSegment {
  const float* gradient;
  float* residual;
  float* p;
  float* q;
  float* dense;
  std::uint32_t* status;
  std::uint64_t seed;
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t rank;  // 0: it is not compressed
  std::int32_t elements;
  Grid project;
  Grid project_back;
  Grid restore;
  float* p_parts;         // [project.blocks_across][rows x rank], or P itself where that is 1
  float* q_parts;         // [row parts][columns x rank], or Q itself
  double* columns_apart;  // scratch: [rank][max(rows, columns)]
};

/// Parts of a sum, and where the sum is to be.
struct PartSum {
  const float* parts;  // [count][numbers]
  float* to;
  std::int64_t numbers;
  std::int32_t count;
  std::int32_t first_block;
};

struct LowRankBatch {
  const LowRankSegment* segments;
  const std::int32_t* project_segment;  // of each block
  const std::int32_t* project_back_segment;
  const std::int32_t* restore_segment;
  const std::uint64_t* round;  // added to the seeds
  double epsilon;
  bool always_orthonormal;  // Q is made so in every iteration, not only when it is drawn
};

/// A tensor of the batch. Its pointers are known to point to global memory, so that loads and
/// stores say so.
__device__ __forceinline__ LowRankSegment segment_of(const LowRankBatch& batch,
                                                     std::int32_t number) {
  const LowRankSegment segment = batch.segments[number];
  assume_global(segment.gradient);
  assume_global(segment.residual);
  assume_global(segment.p);
  assume_global(segment.q);
  assume_global(segment.p_parts);
  assume_global(segment.q_parts);
  assume_global(segment.dense);
  return segment;
}

/// The part of a matrix that a warp has. Empty where it lies beyond the matrix.
struct Place {
  std::int32_t row, row_end;
  std::int32_t column, column_end;
};

/// Row `row` of P or Q: its elements from column `first` on. Columns that are not there repeat the
/// last one, whose sums nobody takes: so no load is behind a branch.
__device__ __forceinline__ void read_row(const float* matrix, std::int64_t row, int rank, int first,
                                         float (&values)[kRankTile]) {
  const float* from = matrix + row * rank;
  GRADCAST_UNROLL
  for (int c = 0; c < kRankTile; ++c) values[c] = from[first + c < rank ? first + c : rank - 1];
}

__device__ __forceinline__ std::int32_t lesser(std::int64_t a, std::int32_t b) {
  return a < b ? static_cast<std::int32_t>(a) : b;
}

/// Warps have `rows` by `columns` of it each.
__device__ __forceinline__ Place place_of_warp(const LowRankSegment& segment, const Grid& grid,
                                               int block, int rows, int columns) {
  const int part = block - grid.first_block;
  const int warps_below = kBlockWarps / grid.warps_abreast;
  const std::int64_t down = static_cast<std::int64_t>(part / grid.blocks_across) * warps_below +
                            warp_of_thread() / grid.warps_abreast;
  const std::int64_t across =
      static_cast<std::int64_t>(part % grid.blocks_across) * grid.warps_abreast +
      warp_of_thread() % grid.warps_abreast;
  Place place;
  place.row = lesser(down * rows, segment.rows);
  place.row_end = lesser(down * rows + rows, segment.rows);
  place.column = lesser(across * columns, segment.columns);
  place.column_end = lesser(across * columns + columns, segment.columns);
  return place;
}

}  // namespace gradcast::GRADCAST_DEVICE
