// Data that the kernels of PowerSGD share: the tensors, and their division.
//
//   run       16 rows or 8 columns whose products one lane adds up: as floats, in a chain
//   strip     4 rows by 256 columns: a warp's part of P = u Q, 8 columns a lane; of a small matrix
//             64 columns, so that there are more blocks
//   column    64 columns by 128 rows: a block's part of Q = u^T P, a run of 16 rows a warp
//   tile      8 rows by 64 columns: a warp's part of P Q^T
//
// A lane loads all elements of u that it has before it uses one, and keeps them in registers. So u
// is read once whatever the rank, and all its loads are under way together.
//
// If a matrix is wider than the strips of a block, or taller than its columns, sums are of parts,
// which a launch of its own adds up. So no block waits for another.
#pragma once
#include "kernels/device/block.cuh"
#include "kernels/device/numbers.cuh"
#include "kernels/low_rank.hpp"
#include "kernels/packing.hpp"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr int kRankTile = 4;  // columns of P or Q that one pass over u serves
inline constexpr int kStripRows = 4;
inline constexpr int kStripColumns = 8;  // of a lane
inline constexpr int kShortStripColumns = 2;
inline constexpr int kColumnsOfBlock = 2 * kLanes;
inline constexpr int kRunRows = 16;
inline constexpr int kRowsOfBlock = kBlockWarps * kRunRows;
inline constexpr int kTileColumns = 2 * kLanes;
inline constexpr int kSideColumns = 2;  // that a lane has beside one another, of a column or a tile
inline constexpr int kTileRows = 8;
inline constexpr int kFlatElements =
    8 * kBlockThreads;  // of a tensor that is sent whole: a block's

/// Layout of a kernel's blocks on a matrix.
struct Grid {
  std::int32_t first_block;
  std::int32_t blocks_across;  // that lie side by side, along the columns
  std::int32_t abreast_bits;   // 2^that warps of a block, likewise; the others lie below
};

/// A block's threads share out the sums of a Gram matrix: gram.cuh.
struct GramShape {
  std::int32_t room;    // columns that a row has room for: whole quads
  std::int32_t items;   // a column by a quad of them, not all of which are before it
  std::int32_t slices;  // threads that have the same item, and share out the rows
  // 2^20 / number, rounded up. (n x that) / 2^20 is n / number where n x number is below 2^20, and
  // n below 2^12: a GPU takes long to divide.
  std::uint32_t of_rank, of_quads, of_items;
};

/// The blocks that make P or Q orthonormal together.
struct ThinWork {
  std::int32_t first_block;
  std::int32_t blocks;
  std::int32_t rows_of_block;
  std::uint32_t* done;  // blocks that have come; 0 between launches
};

/// A tensor as the kernels see it.
struct LowRankSegment {
  ConstNumbers gradient;
  float* residual;
  float* p;
  float* q;
  Numbers dense;
  std::uint32_t* status;
  std::uint64_t seed;
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t rank;  // 0: it is not compressed
  bool short_strips;
  bool quads;  // rows of P and Q are quads, aligned to 16 bytes
  std::int32_t elements;
  Grid project;
  Grid project_back;
  Grid restore;
  float* p_parts;  // [project.blocks_across][rows x rank], or P itself where that is 1
  float* q_parts;  // [row parts][columns x rank], or Q itself
  GramShape gram;
  ThinWork q_work;
  ThinWork p_work;
  double* gram_parts;     // scratch: [blocks][pairs of columns]
  double* factor;         // scratch: [rank x rank]; its first number 0: nothing is to be done
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
  const std::int32_t* q_segment;  // of each block
  const std::int32_t* p_segment;
  const std::int32_t* project_segment;
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
  assume_global(segment.residual);
  assume_global(segment.p);
  assume_global(segment.q);
  assume_global(segment.p_parts);
  assume_global(segment.q_parts);
  return segment;
}

/// The part of a matrix that a warp has. Empty where it lies beyond the matrix.
struct Place {
  std::int32_t row, row_end;
  std::int32_t column, column_end;
};

/// Row `row` of P or Q: its elements from column `first` on. Columns that are not there repeat the
/// last one, whose sums nobody takes: so no load is behind a branch.
template <bool kQuads>
__device__ __forceinline__ void read_row(const float* matrix, std::int32_t row, int rank, int first,
                                         float (&values)[kRankTile]) {
  const float* from = matrix + row * rank;
  if constexpr (kQuads) {
    const Quad quad = *reinterpret_cast<const Quad*>(from + first);
    values[0] = quad.x;
    values[1] = quad.y;
    values[2] = quad.z;
    values[3] = quad.w;
  } else {
    GRADCAST_UNROLL
    for (int c = 0; c < kRankTile; ++c) values[c] = from[first + c < rank ? first + c : rank - 1];
  }
}

__device__ __forceinline__ std::int32_t lesser(std::int64_t a, std::int32_t b) {
  return a < b ? static_cast<std::int32_t>(a) : b;
}
__device__ __forceinline__ std::int32_t lesser(std::int32_t a, std::int32_t b) {
  return a < b ? a : b;
}

/// Warps have `rows` by `columns` of it each.
__device__ __forceinline__ Place place_of_warp(const LowRankSegment& segment, const Grid& grid,
                                               int block, int rows, int columns) {
  const int part = block - grid.first_block;
  const int blocks_down = grid.blocks_across == 1 ? part : part / grid.blocks_across;
  const int blocks_across = part - blocks_down * grid.blocks_across;
  const int below = warp_of_thread() >> grid.abreast_bits;
  const int abreast = warp_of_thread() - (below << grid.abreast_bits);
  const std::int64_t down =
      static_cast<std::int64_t>(blocks_down) * (kBlockWarps >> grid.abreast_bits) + below;
  const std::int64_t across =
      (static_cast<std::int64_t>(blocks_across) << grid.abreast_bits) + abreast;
  Place place;
  place.row = lesser(down * rows, segment.rows);
  place.row_end = lesser(down * rows + rows, segment.rows);
  place.column = lesser(across * columns, segment.columns);
  place.column_end = lesser(across * columns + columns, segment.columns);
  return place;
}

}  // namespace gradcast::GRADCAST_DEVICE
