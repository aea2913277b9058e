// The kernels of quantisers whose workers share a scale: one tells each tensor's own, and one, once
// the largest is known, codes.
#pragma once
#include "kernels/device/pack.cuh"
#include "kernels/device/send_levels.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Each block has a tensor.
template <PackRule kRule>
__global__ void __launch_bounds__(kBlockThreads) find_scales(const PackBatch batch) {
  using Traits = PackTraits<kRule>;
  const PackSegment segment = batch.segments[blockIdx.x];
  const Moments moments = moments_of_tensor<kRule>(segment, shared_memory<BlockScratch>());
  if (threadIdx.x != 0) return;
  const float own = Traits::scales_of(moments, segment.elements, batch.parameter).first;
  *segment.own_scale = own;
  *segment.shared_scale = own;
  *segment.status = not_finite(moments, Traits::kMoments) ? kNotFinite : 0;
}

/// Each warp codes a tile.
template <PackRule kRule>
__global__ void __launch_bounds__(kBlockThreads, 4) pack_levels(const PackBatch batch) {
  const auto block = static_cast<int>(blockIdx.x);
  const PackSegment segment = batch.segments[batch.block_segment[block]];
  const std::int64_t first =
      static_cast<std::int64_t>(block - segment.first_block) * kPartElements +
      warp_of_thread() * kPackTileElements;
  const int count = count_of_tile(first, segment.elements);
  if (count == 0) return;
  float u[kOfLane];
  form_tile(segment, first, count, u);
  send_levels<kRule>(batch, segment, first, count, u);
}

}  // namespace gradcast::GRADCAST_DEVICE
