// The packing kernel of int8, whose scales are of blocks of elements. A thread block has a unit of
// whole blocks. If a unit has up to 2048 elements, it keeps u in registers between the scales and
// the codes. It reads a larger unit twice (blocks of more than 2048, or of more than 512 elements
// and no multiple of 4, so that four of them end with a word).
#pragma once
#include "kernels/device/send_codes.cuh"

namespace gradcast::GRADCAST_DEVICE {

struct PackBlocksShared {
  TileCodes codes[kBlockWarps];
  Key largest[kMostScales];
  float scale[kMostScales];
  std::uint32_t unfinite;
};

/// The largest key of what is finite.
__device__ __forceinline__ Key finite_key(float u) {
  const Key key = magnitude_key(u);
  return key < kInfinityKey ? key : 0;
}

/// A unit of a tensor, as one thread block packs it.
template <PackRule kRule>
class UnitPacker {
  using Traits = PackTraits<kRule>;
  static_assert(Traits::kScales == 1 && Traits::kMoments == MomentsOf::Values);

 public:
  __device__ UnitPacker(const PackBatch& batch, const PackSegment& segment,
                        PackBlocksShared& shared)
      : batch_(batch),
        segment_(segment),
        blocks_(batch.blocks),
        shared_(shared),
        unit_(static_cast<int>(blockIdx.x) - segment.first_block),
        begin_(static_cast<std::int64_t>(unit_) * blocks_.unit_elements),
        elements_(segment.elements - begin_ < blocks_.unit_elements
                      ? static_cast<int>(segment.elements - begin_)
                      : blocks_.unit_elements) {}

  __device__ void pack() {
    const auto thread = static_cast<int>(threadIdx.x);
    float u[kOfLane];
    for (int i = thread; i < kMostScales; i += kBlockThreads) shared_.largest[i] = 0;
    if (thread == 0) shared_.unfinite = 0;
    block_barrier();
    for (int place = first_place(); place < elements_; place += kPartElements) {
      form(place, u);
      find_largest(place, u);
    }
    block_barrier();
    write_scales();
    block_barrier();
    for (int place = first_place(); place < elements_; place += kPartElements) {
      if (elements_ > kPartElements) form(place, u);
      send_tile<kRule>(batch_, segment_, begin_ + place, count_at(place), u,
                       shared_.codes[warp_of_thread()], [&](int in_tile) {
                         const int block = blocks_.block_of(place + in_tile);
                         return Scales{shared_.scale[block < kMostScales ? block : 0], 0};
                       });
    }
    if (thread == 0) tell();
  }

 private:
  /// Place of the warp's first tile in the unit.
  __device__ static int first_place() { return warp_of_thread() * kPackTileElements; }
  __device__ int count_at(int place) const { return count_of_tile(place, elements_); }
  __device__ void form(int place, float (&u)[kOfLane]) const {
    form_tile(segment_, begin_ + place, count_at(place), u);
  }

  __device__ void find_largest(int first, const float (&u)[kOfLane]) {
    bool all_finite = true;
    GRADCAST_UNROLL
    for (int i = 0; i < kOfLane; ++i) all_finite = all_finite && is_finite(u[i]);
    if (any(!all_finite) && lane_of_thread() == 0) or_atomic(&shared_.unfinite, 1);
    GRADCAST_UNROLL
    for (int r = 0; r < kRows; ++r) {
      Key keys[4];
      GRADCAST_UNROLL
      for (int c = 0; c < 4; ++c) keys[c] = finite_key(u[4 * r + c]);
      const int place = first + place_in_tile(4 * r);
      if (blocks_.elements % kRowElements == 0) {
        // A row is within one block.
        const Key largest = warp_max(larger(larger(keys[0], keys[1]), larger(keys[2], keys[3])));
        if (lane_of_thread() == 0) raise(place, largest);
      } else {
        GRADCAST_UNROLL
        for (int c = 0; c < 4; ++c) raise(place + c, keys[c]);
      }
    }
  }
  __device__ static Key larger(Key a, Key b) { return a > b ? a : b; }
  /// Places past the unit's end have no key.
  __device__ void raise(int place, Key key) {
    if (key > 0) max_atomic(&shared_.largest[blocks_.block_of(place)], key);
  }

  __device__ void write_scales() {
    const int first_block = unit_ * (blocks_.unit_elements / blocks_.elements);
    for (int block = static_cast<int>(threadIdx.x); block * blocks_.elements < elements_;
         block += kBlockThreads) {
      Moments moments;
      moments.largest = shared_.largest[block];
      const Scales scales = Traits::scales_of(moments, blocks_.elements, batch_.parameter);
      shared_.scale[block] = scales.first;
      segment_.scales[first_block + block] = bits_of(scales.first);
    }
  }

  /// The last of the tensor's blocks says what all of them found, and clears their notes.
  __device__ void tell() {
    const std::int32_t which = batch_.block_segment[blockIdx.x];
    const auto units = static_cast<std::uint32_t>((segment_.elements + blocks_.unit_elements - 1) /
                                                  blocks_.unit_elements);
    if (shared_.unfinite != 0) or_atomic(&batch_.found[which], kNotFinite);
    memory_fence();
    if (add_atomic(&batch_.done[which], 1) + 1 != units) return;
    memory_fence();
    *segment_.status = read_now(&batch_.found[which]);
    batch_.found[which] = 0;
    add_atomic(&batch_.done[which], 0u - units);  // to 0, by an atomic as all before
  }

  const PackBatch& batch_;
  const PackSegment& segment_;
  const BlockScales blocks_;
  PackBlocksShared& shared_;
  int unit_;
  std::int64_t begin_;
  int elements_;  // of the unit
};

template <PackRule kRule>
__global__ void __launch_bounds__(kBlockThreads, 4) pack_blocks(const PackBatch batch) {
  const PackSegment segment = batch.segments[batch.block_segment[blockIdx.x]];
  UnitPacker<kRule>(batch, segment, shared_memory<PackBlocksShared>()).pack();
}

}  // namespace gradcast::GRADCAST_DEVICE
