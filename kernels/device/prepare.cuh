// The first kernel of an encode. It encodes small tensors completely. Of large ones it takes a
// sample, which gives the key from which on elements are kept as candidates. This key is a guess: a
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
/// run from each stratum. Eight loads of each array are in flight before the first is used.
__device__ inline void sample_into(const Segment& segment, int block, std::uint32_t* bins) {
  constexpr int kAtOnce = 8;
  const float* gradient = segment.gradient;
  const float* residual = segment.residual;
  const std::uint32_t stride = static_cast<std::uint32_t>(segment.sample_stride);
  const int first_run = block * (kBlockSamples / 8);
  const int left = segment.sample_runs - first_run;
  const int samples = 8 * (left < kBlockSamples / 8 ? left : kBlockSamples / 8);
  for (int at = static_cast<int>(threadIdx.x); at - lane_of_thread() < samples;
       at += kAtOnce * kBlockThreads) {
    float g[kAtOnce];
    float e[kAtOnce];
    GRADCAST_UNROLL
    for (int n = 0; n < kAtOnce; ++n) {
      const int j = at + n * kBlockThreads;
      const std::uint32_t run = static_cast<std::uint32_t>(first_run + j / 8);
      const std::int64_t place = static_cast<std::int64_t>(run) * stride + mix_bits(run) % stride;
      const std::int64_t i = 8 * place + j % 8;
      g[n] = j < samples ? gradient[i] : 0.0f;
      e[n] = j < samples ? residual[i] : 0.0f;
    }
    GRADCAST_UNROLL
    for (int n = 0; n < kAtOnce; ++n)
      count_in(bins, magnitude_key(add_feedback(g[n], e[n])) >> kSampleShift,
               at + n * kBlockThreads < samples);
  }
}

__device__ inline void sample_block(const Batch& batch, int number, PrepareShared& shared) {
  auto& own = shared.sample;
  const int which = batch.sample_block_segment[number];
  if (batch.keep_threshold[which] != 0) return;
  const Segment& segment = batch.segments[which];
  for (int i = static_cast<int>(threadIdx.x); i < kSampleBins; i += kBlockThreads) own.bins[i] = 0;
  block_barrier();
  sample_into(segment, number - segment.first_sample_block, own.bins);
  block_barrier();

  const std::uint32_t* bins = own.bins;
  if (segment.sample_blocks > 1) {
    std::uint32_t* all = batch.sample_bins + static_cast<std::int64_t>(which) * kSampleBins;
    for (int i = static_cast<int>(threadIdx.x); i < kSampleBins; i += kBlockThreads)
      if (own.bins[i] != 0) add_atomic(&all[i], own.bins[i]);
    memory_fence();
    block_barrier();
    if (threadIdx.x == 0) own.blocks_done = add_atomic(&batch.sample_done[which], 1);
    block_barrier();
    if (own.blocks_done + 1 != static_cast<std::uint32_t>(segment.sample_blocks)) return;
    memory_fence();  // the last block sees what all have added
    for (int i = static_cast<int>(threadIdx.x); i < kSampleBins; i += kBlockThreads)
      own.bins[i] = read_now(&all[i]);
    block_barrier();
  }
  const Crossing crossing = find_from_top<kSampleBins>(bins, segment.sample_wanted, own.scratch);
  if (threadIdx.x == 0) {
    const Key threshold = crossing.bin == kNowhere ? 0 : crossing.bin << kSampleShift;
    batch.first_threshold[which] = threshold > 0 ? threshold : 1;  // zeros are no candidates
  }
}

template <Rule kRule, Mode kMode>
__global__ void __launch_bounds__(kBlockThreads) prepare(const Batch batch) {
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
