// Operations of all threads of a block together: sums, scans, histograms.
#pragma once
#include "kernels/device/dialect.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// The place at which the count from the top of a histogram reaches a rank.
struct Crossing {
  std::uint32_t bin;    // kNowhere: all bins together do not reach it
  std::uint32_t above;  // counted in the bins above; all of them where it is nowhere
  std::uint32_t held;   // counted in the bin
  std::uint32_t total;  // counted in all bins
};
inline constexpr std::uint32_t kNowhere = 0xffffffffu;

/// Scratch memory of the functions below. Each leaves it free for the next.
struct BlockScratch {
  std::uint64_t warp_sums[kBlockWarps];
  Moments moments[kBlockWarps];
  Crossing crossing;
};

template <class T>
struct Scan {
  T before;  // of the threads below this one
  T total;
};

/// Sum over this lane and the lanes below it.
template <class T>
__device__ __forceinline__ T warp_scan(T value) {
  const int lane = lane_of_thread();
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const T below = from_lane_below(value, distance);
    if (lane >= distance) value += below;
  }
  return value;
}

/// The largest of the 32 lanes' values, in each of them.
__device__ __forceinline__ std::uint32_t warp_max(std::uint32_t value) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    const std::uint32_t other = from_lane_across(value, distance);
    value = value > other ? value : other;
  }
  return value;
}

/// Prefix sum over the block's threads. Every thread calls it.
template <class T>
__device__ Scan<T> block_scan(T value, BlockScratch& scratch) {
  const int warp = warp_of_thread();
  const T sum = warp_scan(value);
  if (lane_of_thread() == kLanes - 1) scratch.warp_sums[warp] = static_cast<std::uint64_t>(sum);
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

/// Finds the bin of the rank-th largest key, rank >= 1. `bins` are aligned to 16 bytes. Every
/// thread of the block must call it. A warp takes an eighth of the bins from the top down, four
/// neighbours a lane and turn, so that its loads are of whole lines and meet in no bank.
template <int kBins>
__device__ Crossing find_from_top(const std::uint32_t* bins, std::uint32_t rank,
                                  BlockScratch& scratch) {
  constexpr int kTurnBins = 4 * kLanes;
  constexpr int kTurns = kBins >= kBlockWarps * kTurnBins ? kBins / (kBlockWarps * kTurnBins) : 1;
  const int first = (warp_of_thread() * kTurns * kLanes + lane_of_thread()) * 4;  // from the top
  QuadOfCounts held[kTurns];
  std::uint32_t sums[kTurns];
  GRADCAST_UNROLL
  for (int turn = 0; turn < kTurns; ++turn) {
    const int at = kBins - 4 - first - turn * kTurnBins;
    held[turn] = kBins > kBlockThreads || at >= 0
                     ? *reinterpret_cast<const QuadOfCounts*>(bins + at)
                     : QuadOfCounts{};
    sums[turn] = held[turn].x + held[turn].y + held[turn].z + held[turn].w;
  }
  // The turns' scans go on side by side, so that none waits for a shuffle.
  std::uint32_t before[kTurns];
  GRADCAST_UNROLL
  for (int turn = 0; turn < kTurns; ++turn) before[turn] = sums[turn];
  GRADCAST_UNROLL
  for (int distance = 1; distance < kLanes; distance *= 2) {
    std::uint32_t below[kTurns];
    GRADCAST_UNROLL
    for (int turn = 0; turn < kTurns; ++turn) below[turn] = from_lane_below(before[turn], distance);
    GRADCAST_UNROLL
    for (int turn = 0; turn < kTurns; ++turn)
      before[turn] += lane_of_thread() >= distance ? below[turn] : 0;
  }
  std::uint32_t of_warp = 0;
  GRADCAST_UNROLL
  for (int turn = 0; turn < kTurns; ++turn) {
    const std::uint32_t sum = from_lane(before[turn], kLanes - 1);
    before[turn] += of_warp - sums[turn];
    of_warp += sum;
  }
  if (lane_of_thread() == 0) scratch.warp_sums[warp_of_thread()] = of_warp;
  if (threadIdx.x == 0) scratch.crossing = {kNowhere, 0, 0, 0};
  block_barrier();
  std::uint32_t warps_before = 0;
  std::uint32_t total = 0;
  GRADCAST_UNROLL
  for (int w = 0; w < kBlockWarps; ++w) {
    const auto sum = static_cast<std::uint32_t>(scratch.warp_sums[w]);
    if (w < warp_of_thread()) warps_before += sum;
    total += sum;
  }
  GRADCAST_UNROLL
  for (int turn = 0; turn < kTurns; ++turn) {
    std::uint32_t above = warps_before + before[turn];
    if (above >= rank || rank - above > sums[turn]) continue;
    const std::uint32_t counts[4] = {held[turn].w, held[turn].z, held[turn].y, held[turn].x};
    std::uint32_t bin = static_cast<std::uint32_t>(kBins - 1 - first - turn * kTurnBins);
    bool found = false;
    GRADCAST_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (!found && rank - above <= counts[i]) {
        scratch.crossing = {bin - static_cast<std::uint32_t>(i), above, counts[i], 0};
        found = true;
      }
      if (!found) above += counts[i];
    }
  }
  block_barrier();
  Crossing crossing = scratch.crossing;
  if (crossing.bin == kNowhere) crossing.above = total;
  crossing.total = total;
  block_barrier();
  return crossing;
}

}  // namespace gradcast::GRADCAST_DEVICE
