// Finds the key of a given rank in each segment, by all blocks together. This radix select needs no
// candidates.
#pragma once
#include "kernels/device/share.cuh"

namespace gradcast::GRADCAST_DEVICE {

__device__ inline std::uint32_t* radix_bins_of(std::uint32_t* all, const Part& part, int level) {
  return all + (static_cast<std::int64_t>(part.which) * kRadixLevels + level) * kRadixBins;
}

/// A radix select over the keys that for_each(part, f) gives to f(key, valid), of the parts that
/// take part; it starts from the notes' `radix` and ends there. All blocks call it.
template <Rule kRule, Mode kMode, class TakesPart, class ForEach>
__device__ void search(Share<kRule, kMode>& share, std::uint32_t* all, const TakesPart& takes_part,
                       const ForEach& for_each) {
  FinishShared& shared = share.shared();
  for (int level = 0; level < kRadixLevels; ++level) {
    const int bits = level < 2 ? 12 : 8;
    const int shift = level == 0 ? 20 : level == 1 ? 8 : 0;
    share.for_each_part([&](const Part& part) {
      if (!takes_part(part)) return;
      const RadixSearch search = share.notes_of(part).radix;
      for (int i = static_cast<int>(threadIdx.x); i < kRadixBins; i += kBlockThreads)
        shared.bins[i] = 0;
      block_barrier();
      for_each(part, [&](Key key, bool valid) {
        count_in(shared.bins, key >> shift & ((1u << bits) - 1),
                 valid && is_under(key, search, shift, bits));
      });
      block_barrier();
      std::uint32_t* bins = radix_bins_of(all, part, level);
      for (int i = static_cast<int>(threadIdx.x); i < kRadixBins; i += kBlockThreads)
        if (shared.bins[i] != 0) add_atomic(&bins[i], shared.bins[i]);
      block_barrier();
    });
    share.meet();
    share.for_each_part([&](const Part& part) {
      if (!takes_part(part)) return;
      const RadixSearch search = share.notes_of(part).radix;
      const Crossing crossing =
          find_from_top<kRadixBins>(radix_bins_of(all, part, level), search.rank, shared.scratch);
      if (threadIdx.x == 0)
        share.notes_of(part).radix = {search.prefix << bits | crossing.bin,
                                      search.rank - crossing.above, crossing.held};
      block_barrier();
    });
  }
}

}  // namespace gradcast::GRADCAST_DEVICE
