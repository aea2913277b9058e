// The packing kernel, for rules whose scales are of a whole tensor or that have none: each warp
// codes a tile.
#pragma once
#include "kernels/device/send_codes.cuh"

namespace gradcast::GRADCAST_DEVICE {

struct PackShared {
  TileCodes codes[kBlockWarps];
  BlockScratch scratch;
};

/// The moments of a tensor: every block adds the last tree by itself.
template <PackRule kRule>
__device__ __forceinline__ Moments moments_of_tensor(const PackSegment& segment,
                                                     BlockScratch& scratch) {
  if (PackTraits<kRule>::kMoments == MomentsOf::Nothing) return {};
  const int count = segment.number_of_moments;
  return count == 1 ? *segment.parts_of_moments : sum_of(segment.parts_of_moments, count, scratch);
}

template <PackRule kRule>
__global__ void __launch_bounds__(kBlockThreads, 4) pack(const PackBatch batch) {
  using Traits = PackTraits<kRule>;
  PackShared& shared = shared_memory<PackShared>();
  const auto block = static_cast<int>(blockIdx.x);
  const PackSegment segment = batch.segments[batch.block_segment[block]];
  const int part = block - segment.first_block;
  const std::int64_t first =
      static_cast<std::int64_t>(part) * kPartElements + warp_of_thread() * kPackTileElements;
  const int count = count_of_tile(first, segment.elements);
  float u[kOfLane];
  form_tile(segment, first, count, u);  // its loads are under way while moments are added
  const Moments moments = moments_of_tensor<kRule>(segment, shared.scratch);
  const Scales scales = Traits::scales_of(moments, segment.elements, batch.parameter);
  if (part == 0 && threadIdx.x == 0) {
    if (Traits::kScales > 0) segment.scales[0] = bits_of(scales.first);
    if (Traits::kScales > 1) segment.scales[1] = bits_of(scales.second);
    *segment.status = not_finite(moments, Traits::kMoments) ? kNotFinite : 0;
  }
  if (count == 0) return;
  send_tile<kRule>(batch, segment, first, count, u, shared.codes[warp_of_thread()],
                   [&](int) { return scales; });
}

}  // namespace gradcast::GRADCAST_DEVICE
