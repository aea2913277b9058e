// The unpacking kernel of levels: each warp has 256 elements of the sum.
#pragma once
#include "kernels/device/pack_tile.cuh"
#include "kernels/levels.hpp"

namespace gradcast::GRADCAST_DEVICE {

struct LevelSegment {
  Numbers dense;
  const float* scale;
  const std::uint32_t* lanes;
  std::int64_t elements;
  float factor;
  bool aligned;  // dense to four elements, lanes to 16 bytes
  std::int32_t first_block;
};

struct LevelBatch {
  const LevelSegment* segments;
  const std::int32_t* block_segment;
  int bits;  // of a lane
  std::uint32_t largest;
  std::uint32_t workers;
};

/// The lanes of a quad that begins at `place` of a tile; those past `count` elements are zero.
__device__ __forceinline__ void read_lanes(const std::uint32_t* words, int place, int bits,
                                           bool whole, int count, std::uint32_t (&lanes)[4]) {
  if (bits == 8) {
    const std::uint32_t word = count > 0 ? words[place / 4] : 0;
    GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c) lanes[c] = word >> 8 * c & 0xffu;
  } else if (bits == 16) {
    std::uint64_t both = 0;
    if (whole) {
      both = reinterpret_cast<const std::uint64_t*>(words)[place / 4];
    } else {
      if (count > 0) both = words[place / 2];
      if (count > 2) both |= static_cast<std::uint64_t>(words[place / 2 + 1]) << 32;
    }
    GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c) lanes[c] = static_cast<std::uint32_t>(both >> 16 * c) & 0xffffu;
  } else if (whole) {
    const Quad quad = read_once(reinterpret_cast<const Quad*>(words) + place / 4);
    lanes[0] = bits_of(quad.x);
    lanes[1] = bits_of(quad.y);
    lanes[2] = bits_of(quad.z);
    lanes[3] = bits_of(quad.w);
  } else {
    GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c) lanes[c] = c < count ? words[place + c] : 0;
  }
}

/// Makes values of sums of levels. The batch has the meaning of levels, whatever the rule.
inline __global__ void __launch_bounds__(kBlockThreads) unpack_levels(const LevelBatch batch) {
  const auto block = static_cast<int>(blockIdx.x);
  const LevelSegment segment = batch.segments[batch.block_segment[block]];
  const std::int64_t first =
      static_cast<std::int64_t>(block - segment.first_block) * kPartElements +
      warp_of_thread() * kPackTileElements;
  const int count = count_of_tile(first, segment.elements);
  if (count == 0) return;
  const bool whole = segment.aligned && count == kPackTileElements;
  const std::uint32_t* words = segment.lanes + first * batch.bits / 32;
  std::uint32_t lanes[kRows][4];
  GRADCAST_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const int place = place_in_tile(4 * r);
    read_lanes(words, place, batch.bits, whole, count - place, lanes[r]);
  }
  const float scale = *segment.scale;
  as_typed(segment.dense, [&](const auto& to) {
    GRADCAST_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const int place = place_in_tile(4 * r);
      float dense[4];
      GRADCAST_UNROLL
      for (int c = 0; c < 4; ++c)
        dense[c] = segment.factor * value_of_sum(lanes[r][c], batch.workers, scale, batch.largest);
      write_quad(to, first + place, whole, count - place, dense);
    }
  });
}

}  // namespace gradcast::GRADCAST_DEVICE
