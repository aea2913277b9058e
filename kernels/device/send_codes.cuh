// A warp codes its tile: it writes what stays in the residual, and the words of the codes.
#pragma once
#include "kernels/device/pack_tile.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// A warp's codes of each quad, one after another, before it makes words of them.
struct TileCodes {
  std::uint64_t of_quad[kRows * kLanes];
};

/// Bits of a code. One rule's depend on its parameter.
template <PackRule kRule>
__device__ __forceinline__ int bits_of_code(const PackBatch& batch) {
  return kRule == PackRule::Qsgd ? batch.bits : PackTraits<kRule>::bits(0);
}

/// Word `word` of a tile: of the quads that have bits in it. A quad has four codes, 4 to 64 bits,
/// and a tile whole words: so the last quad ends where the last word ends.
__device__ __forceinline__ std::uint32_t word_of_quads(const TileCodes& codes, int word,
                                                       int quad_bits) {
  int quad = 32 * word / quad_bits;
  const int skipped = 32 * word - quad * quad_bits;
  auto bits = static_cast<std::uint32_t>(codes.of_quad[quad] >> skipped);
  for (int held = quad_bits - skipped; held < 32; held += quad_bits)
    bits |= static_cast<std::uint32_t>(codes.of_quad[++quad]) << held;
  return bits;
}

/// Sends the tile that begins at `first`, `count` elements of it. scales_of(place) gives the scales
/// of an element, by its place in the tile. All lanes call it together.
template <PackRule kRule, class ScalesOf>
__device__ __forceinline__ void send_tile(const PackBatch& batch, const PackSegment& segment,
                                          std::int64_t first, int count, const float (&u)[kOfLane],
                                          TileCodes& codes, const ScalesOf& scales_of) {
  using Traits = PackTraits<kRule>;
  const int bits = bits_of_code<kRule>(batch);
  const std::uint64_t seed = segment.seed + *batch.round;
  const bool whole = segment.aligned && count == kPackTileElements;
  std::uint32_t* words = segment.codes + first * bits / 32;
  warp_barrier();  // the tile before is written
  GRADCAST_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const int place = place_in_tile(4 * r);
    std::uint64_t quad = 0;
    float left[4];
    GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c) {
      const Scales scales = scales_of(place + c);
      const std::uint32_t key = random_key(seed, static_cast<std::uint32_t>(first) + place + c);
      const std::uint32_t code = Traits::code(u[4 * r + c], scales, batch.parameter, key);
      left[c] = residual_of(u[4 * r + c], Traits::value(code, scales, batch.parameter));
      if (place + c < count) quad |= static_cast<std::uint64_t>(code) << bits * c;
    }
    if (segment.residual != nullptr)
      write_quad(Floats<float>{segment.residual}, first + place, whole, count - place, left);
    if (bits == 8) {
      if (place < count) words[place / 4] = static_cast<std::uint32_t>(quad);
    } else {
      codes.of_quad[place / 4] = quad;
    }
  }
  if (bits == 8) return;  // a quad is a word
  warp_barrier();
  const int end = (count * bits + 31) / 32;
  for (int word = lane_of_thread(); word < end; word += kLanes)
    words[word] = word_of_quads(codes, word, 4 * bits);
}

}  // namespace gradcast::GRADCAST_DEVICE
