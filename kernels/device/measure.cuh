// The moments of whole tensors, for quantisers that have scales: a kernel that reads all elements,
// and one that adds up what it found, for tensors of more than 256 moment tiles.
#pragma once
#include "kernels/device/pack_tile.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Each warp has a moment tile.
template <PackRule kRule>
__global__ void __launch_bounds__(kBlockThreads, 4) measure(const PackBatch batch) {
  constexpr MomentsOf kOf = PackTraits<kRule>::kMoments;
  constexpr bool kLargest = kRule == PackRule::Terngrad;
  const auto block = static_cast<int>(blockIdx.x);
  const PackSegment segment = batch.segments[batch.measuring_block_segment[block]];
  const std::int64_t tile =
      static_cast<std::int64_t>(block - segment.first_measuring_block) * kBlockWarps +
      warp_of_thread();
  const std::int64_t end = segment.elements;
  const std::int64_t first = tile * kMomentElements;
  if (first >= end) return;
  Moments moments;
  GRADCAST_NO_UNROLL
  for (int half = 0; half < kMomentElements; half += kPackTileElements) {
    const int count = count_of_tile(first + half, end);
    float u[kOfLane];
    form_tile(segment, first + half, count, u);
    GRADCAST_UNROLL
    for (int i = 0; i < kOfLane; ++i)
      if (place_in_tile(i) < count) take<kOf, kLargest>(moments, u[i]);
  }
  moments = warp_tree(moments);
  if (lane_of_thread() == 0) segment.tile_moments[tile] = moments;
}

/// Each block has a tree.
inline __global__ void __launch_bounds__(kBlockThreads) add_moments(const MomentTree* trees) {
  const MomentTree tree = trees[blockIdx.x];
  const Moments sum = sum_of(tree.from, tree.count, shared_memory<BlockScratch>());
  if (threadIdx.x == 0) *tree.to = sum;
}

}  // namespace gradcast::GRADCAST_DEVICE
