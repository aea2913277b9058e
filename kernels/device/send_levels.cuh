// A warp sends its tile as levels of a scale that the workers share: it writes what stays in the
// residual, and the lanes.
#pragma once
#include "kernels/device/pack_tile.cuh"
#include "kernels/levels.hpp"

namespace gradcast::GRADCAST_DEVICE {

/// Writes the lanes of a quad that begins at `place` of a tile, of 8, 16 or 32 bits: as one store
/// where all `whole` tiles' words are aligned to 16 bytes, else those words that hold any of
/// `count` elements. Lanes past them are zero.
__device__ __forceinline__ void write_lanes(std::uint32_t* words, int place, int bits, bool whole,
                                            int count, const std::uint32_t (&lanes)[4]) {
  if (bits == 8) {
    if (count > 0) words[place / 4] = lanes[0] | lanes[1] << 8 | lanes[2] << 16 | lanes[3] << 24;
  } else if (bits == 16) {
    const std::uint32_t low = lanes[0] | lanes[1] << 16;
    const std::uint32_t high = lanes[2] | lanes[3] << 16;
    if (whole) {
      reinterpret_cast<std::uint64_t*>(words)[place / 4] = low | static_cast<std::uint64_t>(high)
                                                                     << 32;
    } else {
      if (count > 0) words[place / 2] = low;
      if (count > 2) words[place / 2 + 1] = high;
    }
  } else if (whole) {
    write_through(
        reinterpret_cast<Quad*>(words) + place / 4,
        Quad{float_of(lanes[0]), float_of(lanes[1]), float_of(lanes[2]), float_of(lanes[3])});
  } else {
    GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c)
      if (c < count) words[place + c] = lanes[c];
  }
}

/// Sends the tile that begins at `first`, `count` elements of it.
template <PackRule kRule>
__device__ __forceinline__ void send_levels(const PackBatch& batch, const PackSegment& segment,
                                            std::int64_t first, int count,
                                            const float (&u)[kOfLane]) {
  using Traits = PackTraits<kRule>;
  using Rule = LevelTraits<kRule>;
  const float own = *segment.own_scale;
  const Scales shared{*segment.shared_scale, 0};
  const std::uint32_t largest = Rule::largest(batch.parameter);
  const std::uint64_t seed = segment.seed + *batch.round;
  const bool full = count == kPackTileElements;
  std::uint32_t* words = segment.codes + first * batch.bits / 32;
  GRADCAST_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const int place = place_in_tile(4 * r);
    std::uint32_t lanes[4];
    float left[4];
    GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c) {
      const float its = u[4 * r + c];
      const std::uint32_t key = random_key(seed, static_cast<std::uint32_t>(first) + place + c);
      const std::uint32_t code = Traits::code(Rule::kept(its, own), shared, batch.parameter, key);
      left[c] = residual_of(its, Traits::value(code, shared, batch.parameter));
      const auto multiple = static_cast<std::uint32_t>(Rule::multiple_of(code, batch.parameter));
      lanes[c] = place + c < count ? largest + multiple : 0;
    }
    if (segment.residual != nullptr)
      write_quad(Floats<float>{segment.residual}, first + place, segment.aligned && full,
                 count - place, left);
    write_lanes(words, place, batch.bits, segment.lanes_aligned && full, count - place, lanes);
  }
}

}  // namespace gradcast::GRADCAST_DEVICE
