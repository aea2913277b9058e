// Moments on a device: an element's part in a lane's, and the trees in which they are added. Their
// order is that of definitions.hpp, whoever adds them.
#pragma once
#include "kernels/device/block.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Adds one element to a lane's moments. `kLargest`: the largest key is wanted as well.
template <MomentsOf kOf, bool kLargest>
__device__ __forceinline__ void take(Moments& moments, float u) {
  if (kOf == MomentsOf::Sides) {
    moments = moments + moments_of_element(u, kOf);
    return;
  }
  const Key key = magnitude_key(u);
  if (key >= kInfinityKey) {
    ++moments.unfinite;
    return;
  }
  constexpr bool kOfMagnitudes = kOf == MomentsOf::Magnitudes;
  const double value = static_cast<double>(kOfMagnitudes ? float_of(key) : u);
  moments.sum += value;
  if (!kOfMagnitudes) moments.squares += value * value;
  if (kLargest && key > moments.largest) moments.largest = key;
}

/// One tree of Moments' step 3: of up to 256 sums. All threads, the same result in each.
__device__ inline Moments sum_of(const Moments* from, std::int64_t count, BlockScratch& scratch) {
  const auto thread = static_cast<int>(threadIdx.x);
  return block_tree(thread < count ? from[thread] : Moments{}, scratch);
}

}  // namespace gradcast::GRADCAST_DEVICE
