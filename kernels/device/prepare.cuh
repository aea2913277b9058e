// The first kernel of an encode. It encodes small tensors completely. It takes a sample of large
// ones, which gives the key from which on elements are kept as candidates. This key is a guess: a
// wrong one costs time, but never changes the answer.
#pragma once
#include "kernels/device/small.cuh"

namespace gradcast::GRADCAST_DEVICE {

union PrepareShared {
  SmallShared small;
  struct {
    std::uint32_t bins[kSampleBins];
    std::uint32_t blocks_done;
    BlockScratch scratch;
  } sample;
};

/// Elements for one block of a segment's sample, in runs of 8 (32 bytes, one sector of memory), one
/// run from each stratum. All loads are in flight before the first is used.
class SampleReader {
 public:
  __device__ SampleReader(const Segment& segment, int block)
      : gradient_(segment.gradient),
        residual_(segment.residual),
        stride_(static_cast<std::uint32_t>(segment.sample_stride)),
        first_run_(block * (kBlockSamples / 8)),
        runs_(segment.sample_runs) {}

  __device__ void count_into(std::uint32_t* bins) const {
    as_typed(gradient_, [&](const auto& gradient) { count(gradient, bins); });
  }

 private:
  template <class Gradient>
  __device__ void count(const Gradient& gradient, std::uint32_t* bins) const {
    constexpr int kAtOnce = kBlockSamples / kBlockThreads;
    float g[kAtOnce];
    float e[kAtOnce];
    GRADCAST_UNROLL
    for (int n = 0; n < kAtOnce; ++n) {
      const std::int64_t at = place(run(n) < runs_ ? run(n) : 0);
      g[n] = gradient[at];
      e[n] = residual_[at];
    }
    GRADCAST_UNROLL
    for (int n = 0; n < kAtOnce; ++n)
      count_in(bins, magnitude_key(add_feedback(g[n], e[n])) >> kSampleShift, run(n) < runs_);
  }
  __device__ int run(int n) const {
    return first_run_ + n * (kBlockThreads / 8) + static_cast<int>(threadIdx.x) / 8;
  }
  /// A stratum has `stride` runs. One is drawn without a division, which takes long.
  __device__ std::int64_t place(int run) const {
    const std::uint64_t draw =
        static_cast<std::uint64_t>(mix_bits(static_cast<std::uint32_t>(run)));
    const std::int64_t of_stratum = static_cast<std::int64_t>(draw * stride_ >> 32);
    return 8 * (static_cast<std::int64_t>(run) * stride_ + of_stratum) + threadIdx.x % 8;
  }

  ConstNumbers gradient_;
  const float* residual_;
  std::uint32_t stride_;
  int first_run_;
  int runs_;
};

/// A thread's share of a sample's histogram: its loads are in flight together.
struct BinsOfThread {
  static constexpr int kQuads = kSampleBins / 4 / kBlockThreads;
  QuadOfCounts quads[kQuads];

  __device__ static int first_of(int quad) {
    return 4 * (quad * kBlockThreads + static_cast<int>(threadIdx.x));
  }
};

/// Adds a block's counts to the segment's.
__device__ inline void add_bins(const std::uint32_t* own, std::uint32_t* all) {
  BinsOfThread bins;
  GRADCAST_UNROLL
  for (int i = 0; i < BinsOfThread::kQuads; ++i)
    bins.quads[i] = *reinterpret_cast<const QuadOfCounts*>(own + BinsOfThread::first_of(i));
  GRADCAST_UNROLL
  for (int i = 0; i < BinsOfThread::kQuads; ++i) {
    std::uint32_t* to = all + BinsOfThread::first_of(i);
    const QuadOfCounts& quad = bins.quads[i];
    if ((quad.x | quad.y | quad.z | quad.w) == 0) continue;
    if (quad.x != 0) add_atomic(to, quad.x);
    if (quad.y != 0) add_atomic(to + 1, quad.y);
    if (quad.z != 0) add_atomic(to + 2, quad.z);
    if (quad.w != 0) add_atomic(to + 3, quad.w);
  }
}

__device__ inline void copy_bins_now(const std::uint32_t* all, std::uint32_t* own) {
  BinsOfThread bins;
  GRADCAST_UNROLL
  for (int i = 0; i < BinsOfThread::kQuads; ++i)
    bins.quads[i] =
        read_now(reinterpret_cast<const QuadOfCounts*>(all + BinsOfThread::first_of(i)));
  GRADCAST_UNROLL
  for (int i = 0; i < BinsOfThread::kQuads; ++i)
    *reinterpret_cast<QuadOfCounts*>(own + BinsOfThread::first_of(i)) = bins.quads[i];
}

__device__ inline void sample_block(const Batch& batch, int number, PrepareShared& shared) {
  auto& own = shared.sample;
  const int which = batch.sample_block_segment[number];
  const Segment& segment = batch.segments[which];
  const SampleReader reader(segment, number - segment.first_sample_block);
  const auto blocks = static_cast<std::uint32_t>(segment.sample_blocks);
  const std::uint32_t wanted = segment.sample_wanted;
  if (batch.keep_threshold[which] != 0) return;
  for (int i = static_cast<int>(threadIdx.x); i < kSampleBins; i += kBlockThreads) own.bins[i] = 0;
  block_barrier();
  reader.count_into(own.bins);
  block_barrier();
  if (blocks > 1) {
    std::uint32_t* all = batch.sample_bins + static_cast<std::int64_t>(which) * kSampleBins;
    add_bins(own.bins, all);
    block_barrier();
    if (threadIdx.x == 0) {
      memory_fence();
      own.blocks_done = add_atomic(&batch.sample_done[which], 1);
      memory_fence();  // the last block sees what all have added
    }
    block_barrier();
    if (own.blocks_done + 1 != blocks) return;
    copy_bins_now(all, own.bins);
    block_barrier();
  }
  const Crossing crossing = find_from_top<kSampleBins>(own.bins, wanted, own.scratch);
  if (threadIdx.x == 0) {
    const Key threshold = crossing.bin == kNowhere ? 0 : crossing.bin << kSampleShift;
    // Zeros are no candidates. Infinities and NaNs are, so that the stream sees them.
    batch.first_threshold[which] = threshold == 0             ? 1
                                   : threshold < kInfinityKey ? threshold
                                                              : kInfinityKey;
  }
}

template <Rule kRule, Mode kMode>
__global__ void __launch_bounds__(kBlockThreads, 4) prepare(const Batch batch) {
  PrepareShared& shared = shared_memory<PrepareShared>();
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kBlockThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
       i < batch.cleared_words; i += threads)
    batch.cleared[i] = 0;

  const int block = static_cast<int>(blockIdx.x);
  if (block < batch.small) {
    SmallTensor<kRule, kMode>(batch.segments[batch.large + block], *batch.round, shared.small)
        .encode();
  } else if (block < batch.small + batch.sample_blocks) {
    sample_block(batch, block - batch.small, shared);
  }
}

}  // namespace gradcast::GRADCAST_DEVICE
