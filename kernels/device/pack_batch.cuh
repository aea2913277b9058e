// Data that the kernels of one pack share: the tensors, and their division.
//
//   row          128 elements: each lane of a warp has four neighbours of it, a quad
//   tile         256 elements, two rows: a warp's part
//   part         2048 elements: a block's part, of a tensor that is one block of scales
//   unit         the elements of a block where every so many have a scale (int8)
//   moment tile  1024 elements, whose moments one warp adds up
//
// All of these are counted from a tensor's first element on. 32 codes of b bits are b words, so a
// tile has whole words of codes. A unit has a multiple of four elements, whose codes of 8 bits are
// words as well.
#pragma once
#include "kernels/device/moments.cuh"
#include "kernels/device/numbers.cuh"
#include "kernels/packing.hpp"
#include "kernels/selection.hpp"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr int kRowElements = 4 * kLanes;
// Two rows in place of four took fp16 from 14.3 to 12.0 us of a simulated V100 at 262,144 elements,
// and QSGD's packing from 16.0 to 14.0: more warps hide more latency.
inline constexpr int kRows = 2;
inline constexpr int kPackTileElements = kRows * kRowElements;
inline constexpr int kPartElements = kBlockWarps * kPackTileElements;
inline constexpr int kOfLane = kRows * 4;  // elements of a tile
inline constexpr int kMostScales = 64;     // of a unit: 2048 elements in blocks of 32

/// A tensor as the kernels see it.
struct PackSegment {
  ConstNumbers gradient;
  float* residual;  // nullptr: no error feedback
  std::uint32_t* scales;
  std::uint32_t* codes;
  std::uint32_t* status;
  std::int64_t elements;
  std::uint64_t seed;
  bool aligned;  // gradient and residual to four elements
  std::int32_t first_block;
  std::int32_t first_measuring_block;
  Moments* tile_moments;
  // The moments of all elements are the sum of these, in one tree: of moment tiles or of their
  // sums.
  const Moments* parts_of_moments;
  std::int32_t number_of_moments;
  // Given if workers share a scale (levels.hpp): the scale that the tensor would take by itself,
  // and the shared one. `codes` are lanes then.
  float* own_scale;
  float* shared_scale;
  bool lanes_aligned;  // to 16 bytes
};

/// 256 sums, or fewer, that are added in one tree.
struct MomentTree {
  const Moments* from;
  Moments* to;
  std::int32_t count;
};

/// Blocks of elements that have a scale each (int8).
struct BlockScales {
  std::int32_t elements;       // of a block
  std::int32_t unit_elements;  // of whole blocks, a multiple of four
  std::uint32_t reciprocal;    // 2^34 / elements, rounded up

  /// The block of an element, by its place in a unit. It is exact: a place is below 2^18, and
  /// reciprocal x elements is less than `elements`, so less than 2^16, above 2^34.
  GRADCAST_BOTH std::int32_t block_of(std::int32_t place) const {
    return static_cast<std::int32_t>(static_cast<std::uint64_t>(place) * reciprocal >> 34);
  }
};

struct PackBatch {
  const PackSegment* segments;
  const std::int32_t* block_segment;
  const std::int32_t* measuring_block_segment;
  const std::uint64_t* round;  // added to the seeds
  double parameter;
  int bits;  // of a code, or of a lane
  BlockScales blocks;
  // By segment, if blocks have scales; the last block clears them for the next call.
  std::uint32_t* found;  // Status bits
  std::uint32_t* done;   // blocks
};

}  // namespace gradcast::GRADCAST_DEVICE
