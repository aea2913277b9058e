// The unpacking kernel: each warp has 256 elements, and adds up what the workers sent of them, one
// worker after another, in registers.
#pragma once
#include "kernels/device/pack_tile.cuh"

namespace gradcast::GRADCAST_DEVICE {

struct UnpackSegment {
  Numbers dense;
  const std::uint32_t* const* payloads;  // of each worker
  std::int64_t elements;
  std::int64_t scale_words;
  float factor;
  bool aligned;  // dense to four elements
  std::int32_t first_block;
};

struct UnpackBatch {
  const UnpackSegment* segments;
  const std::int32_t* block_segment;
  int workers;
  int bits;                     // of a code
  std::int32_t block_elements;  // that have a scale (int8)
  double parameter;
};

/// The codes of a tile's quad, one after another: `held` bits of them. They may be in three words.
__device__ __forceinline__ std::uint64_t read_quad(const std::uint32_t* words, int quad,
                                                   int quad_bits, int held) {
  if (held <= 0) return 0;
  const int word = quad * quad_bits / 32;
  const int skipped = quad * quad_bits % 32;
  std::uint64_t codes = words[word];
  if (skipped + held > 32) codes |= static_cast<std::uint64_t>(words[word + 1]) << 32;
  codes >>= skipped;
  if (skipped + held > 64) codes |= static_cast<std::uint64_t>(words[word + 2]) << (64 - skipped);
  return codes;
}

/// Scales of the four elements of a quad: one block's, and from element `split` on the next one's.
struct QuadScales {
  std::int32_t block;
  int split;
};

template <PackRule kRule>
class TileSum {
  using Traits = PackTraits<kRule>;
  static constexpr bool kOfBlocks = kRule == PackRule::Int8;

 public:
  __device__ TileSum(const UnpackBatch& batch, const UnpackSegment& segment, std::int64_t first,
                     int count)
      : batch_(batch),
        segment_(segment),
        bits_(kRule == PackRule::Qsgd ? batch.bits : Traits::bits(0)),
        first_word_(segment.scale_words + first * bits_ / 32),
        count_(count) {
    GRADCAST_UNROLL
    for (int r = 0; r < kRows; ++r) {
      scales_[r] = {0, 4};
      if (!kOfBlocks) continue;
      const auto at = static_cast<std::uint32_t>(first) + place_in_tile(4 * r);
      const auto elements = static_cast<std::uint32_t>(batch.block_elements);
      const std::uint32_t block = at / elements;
      const std::uint32_t left = elements - (at - block * elements);
      scales_[r] = {static_cast<std::int32_t>(block), left < 4 ? static_cast<int>(left) : 4};
    }
  }

  __device__ void add(int worker) {
    const std::uint32_t* payload = segment_.payloads[worker];
    const std::uint32_t* words = payload + first_word_;
    std::uint64_t codes[kRows];
    Scales scales[kRows];
    Scales next[kRows];
    GRADCAST_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const int place = place_in_tile(4 * r);
      const int left = count_ - place;
      codes[r] = read_quad(words, place / 4, 4 * bits_, (left < 4 ? left : 4) * bits_);
      if (left > 0) scales[r] = read(payload, scales_[r].block);
      next[r] = left > scales_[r].split && scales_[r].split < 4
                    ? read(payload, scales_[r].block + 1)
                    : scales[r];
    }
    const std::uint32_t mask = (1u << bits_) - 1;
    GRADCAST_UNROLL
    for (int r = 0; r < kRows; ++r) GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c) {
      const std::uint32_t code = static_cast<std::uint32_t>(codes[r] >> bits_ * c) & mask;
      const Scales own = !kOfBlocks || c < scales_[r].split ? scales[r] : next[r];
      sums_[4 * r + c].add(Traits::value(code, own, batch_.parameter));
    }
  }

  __device__ void write(std::int64_t first) const {
    as_typed(segment_.dense, [&](const auto& to) {
      GRADCAST_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const int place = place_in_tile(4 * r);
        float dense[4];
        GRADCAST_UNROLL
        for (int c = 0; c < 4; ++c) dense[c] = segment_.factor * sums_[4 * r + c].result();
        write_quad(to, first + place, segment_.aligned && count_ == kPackTileElements,
                   count_ - place, dense);
      }
    });
  }

 private:
  __device__ static Scales read(const std::uint32_t* payload, std::int32_t block) {
    Scales scales;
    if (Traits::kScales > 0) scales.first = float_of(payload[block * Traits::kScales]);
    if (Traits::kScales > 1) scales.second = float_of(payload[block * Traits::kScales + 1]);
    return scales;
  }

  const UnpackBatch& batch_;
  const UnpackSegment& segment_;
  int bits_;
  std::int64_t first_word_;
  int count_;
  QuadScales scales_[kRows];
  PackedSum<kRule> sums_[kOfLane];
};

template <PackRule kRule>
__global__ void __launch_bounds__(kBlockThreads, 2) unpack(const UnpackBatch batch) {
  const auto block = static_cast<int>(blockIdx.x);
  const UnpackSegment segment = batch.segments[batch.block_segment[block]];
  const std::int64_t first =
      static_cast<std::int64_t>(block - segment.first_block) * kPartElements +
      warp_of_thread() * kPackTileElements;
  const int count = count_of_tile(first, segment.elements);
  if (count == 0) return;
  TileSum<kRule> sum(batch, segment, first, count);
  sum.add(0);  // what the others are added to
  GRADCAST_UNROLL_BY_4
  for (int worker = 1; worker < batch.workers; ++worker) sum.add(worker);
  sum.write(first);
}

}  // namespace gradcast::GRADCAST_DEVICE
