// Operations of all threads of a block together: sums, scans, histograms.
#pragma once
#include "kernels/device/dialect.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Scratch memory of the functions below. Each leaves it free for the next.
struct BlockScratch {
  std::uint64_t warp_sums[kBlockWarps];
  Moments moments[kBlockWarps];
  std::uint32_t crossing_bin;
  std::uint32_t crossing_above;
};

template <class T>
struct Scan {
  T before;  // of the threads below this one
  T total;
};

/// Prefix sum over the block's threads. Every thread calls it.
template <class T>
__device__ Scan<T> block_scan(T value, BlockScratch& scratch) {
  const int lane = lane_of_thread();
  const int warp = warp_of_thread();
  T sum = value;
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const T below = from_lane_below(sum, distance);
    if (lane >= distance) sum += below;
  }
  if (lane == kLanes - 1) scratch.warp_sums[warp] = static_cast<std::uint64_t>(sum);
  block_barrier();
  Scan<T> scan{static_cast<T>(sum - value), 0};
  for (int w = 0; w < kBlockWarps; ++w) {
    const T of_warp = static_cast<T>(scratch.warp_sums[w]);
    if (w < warp) scan.before += of_warp;
    scan.total += of_warp;
  }
  block_barrier();
  return scan;
}

__device__ __forceinline__ Moments moments_across(const Moments& m, int distance) {
  return {from_lane_across(m.sum, distance), from_lane_across(m.squares, distance),
          from_lane_across(m.largest, distance), from_lane_across(m.unfinite, distance)};
}

/// Step 2 of Moments' order: all 32 lanes, the same result in each.
__device__ __forceinline__ Moments warp_tree(Moments m) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) m = m + moments_across(m, distance);
  return m;
}

/// Step 3 of Moments' order: all 256 threads, the same result in each.
__device__ inline Moments block_tree(const Moments& m, BlockScratch& scratch) {
  static_assert(kBlockThreads == kTreeWidth && kBlockWarps == 8);
  const Moments of_warp = warp_tree(m);
  if (lane_of_thread() == 0) scratch.moments[warp_of_thread()] = of_warp;
  block_barrier();
  const Moments* s = scratch.moments;
  const Moments total = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  block_barrier();
  return total;
}

/// Adds 1 to `bins[bin]` for every lane that asks for it. Whole warps must call it. If all lanes
/// have the same bin, as ties do, they make one addition.
__device__ __forceinline__ void count_in(std::uint32_t* bins, std::uint32_t bin, bool counts) {
  const std::uint32_t counting = ballot(counts);
  if (counting == 0) return;
  const int first = lowest_bit(counting);
  const std::uint32_t common = from_lane(bin, first);
  const std::uint32_t alike = ballot(counts && bin == common);
  if (lane_of_thread() == first)
    add_atomic(&bins[common], static_cast<std::uint32_t>(count_bits(alike)));
  if (counts && bin != common) add_atomic(&bins[bin], 1);
}

/// The place at which the count from the top of a histogram reaches a rank.
struct Crossing {
  std::uint32_t bin;    // kNowhere: all bins together do not reach it
  std::uint32_t above;  // counted in the bins above; all of them where it is nowhere
  std::uint32_t total;  // counted in all bins
};
inline constexpr std::uint32_t kNowhere = 0xffffffffu;

/// Finds the bin of the rank-th largest key, rank >= 1. Every thread of the block must call it.
template <int kBins>
__device__ Crossing find_from_top(const std::uint32_t* bins, std::uint32_t rank,
                                  BlockScratch& scratch) {
  constexpr int kEach = (kBins + kBlockThreads - 1) / kBlockThreads;
  const int top = kBins - 1 - static_cast<int>(threadIdx.x) * kEach;  // this thread's first bin
  std::uint32_t own = 0;
  for (int i = 0; i < kEach; ++i)
    if (top - i >= 0) own += bins[top - i];
  if (threadIdx.x == 0) scratch.crossing_bin = kNowhere;
  const Scan<std::uint32_t> scan = block_scan(own, scratch);  // its barriers order the lines around
  if (scan.before < rank && rank - scan.before <= own) {
    std::uint32_t above = scan.before;
    int bin = top;
    while (rank - above > bins[bin]) above += bins[bin--];
    scratch.crossing_bin = static_cast<std::uint32_t>(bin);
    scratch.crossing_above = above;
  }
  block_barrier();
  const Crossing crossing{scratch.crossing_bin,
                          scratch.crossing_bin == kNowhere ? scan.total : scratch.crossing_above,
                          scan.total};
  block_barrier();
  return crossing;
}

}  // namespace gradcast::GRADCAST_DEVICE
