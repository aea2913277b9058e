// Finds the key of a given rank, a few bits at a time. It is exact for any keys.
#pragma once
#include "kernels/device/block.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// A radix select under way. It searches for the rank-th largest of the keys that begin with
/// `prefix`.
struct RadixSearch {
  Key prefix;
  std::uint32_t rank;
  std::uint32_t equals;  // keys that begin with it; known after a level
};

/// Bits [shift, shift + bits) of a key are a level's bin; those above are the prefix.
__device__ __forceinline__ bool is_under(Key key, const RadixSearch& search, int shift, int bits) {
  return shift + bits >= 32 || key >> (shift + bits) == search.prefix;
}

/// One block's select among few keys below 2^kBits, 8 bits a level. `for_each(f)` calls f(key,
/// valid) with whole warps; `bins` are 256 of shared memory. At the end, `prefix` is the whole key,
/// and `rank` is how many of its equals are wanted.
template <int kBits = 32, class ForEach>
__device__ RadixSearch block_radix_select(std::uint32_t rank, std::uint32_t* bins,
                                          BlockScratch& scratch, const ForEach& for_each) {
  static_assert(kBlockThreads == 256);
  RadixSearch search{0, rank, 0};
  for (int shift = kBits - 8; shift >= 0; shift -= 8) {
    bins[threadIdx.x] = 0;
    block_barrier();
    for_each([&](Key key, bool valid) {
      count_in(bins, key >> shift & 255u, valid && is_under(key, search, shift, 8));
    });
    block_barrier();
    const Crossing crossing = find_from_top<256>(bins, search.rank, scratch);
    search = {search.prefix << 8 | crossing.bin, search.rank - crossing.above, crossing.held};
  }
  return search;
}

}  // namespace gradcast::GRADCAST_DEVICE
