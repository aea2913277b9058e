// The last kernel of an encode: from the candidates to the answer. All its blocks are resident at
// once and go through the same steps; they meet between two steps. Each block has the same share of
// the groups in every step. It finds out by itself what it needs to know about the segments in
// them, so that no block waits for the decision of another.
//
// share.cuh: what all steps stand on, a block's share and the meetings.
// moment_sums.cuh:
//   moments       Gaussian-k, Trimmed: add the tiles' sums
// select.cuh, by way of search.cuh where candidates do not tell:
//   sample        DGC: the key of the wanted rank in its sample
//   count         those three: how many candidates pass each threshold that may be needed
//   settle        threshold or rank; for a rank, the bin of the candidates' histogram that holds it
//   fall back     (unusual) where that does not tell: count in u, radix select, search among equals
//   find in list  the last candidate that is sent, of those listed from that bin
// tally.cuh:
//   tally         what each tile sends for sure; lists the candidates of that bin
// send.cuh:
//   draw          rTop-k: of what would be sent, the k of the largest random keys
//   send          values, indices, and zeros in the residual
//
// Mostly, Top-k's blocks meet once: after the tally.
#pragma once
#include "kernels/device/select.cuh"
#include "kernels/device/send.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Clears memory for the next encode.
template <Rule kRule, Mode kMode>
__device__ void clear_samples(Share<kRule, kMode>& share) {
  const Batch& batch = share.batch();
  for (int which = share.block(); which < batch.large; which += share.blocks()) {
    if (batch.segments[which].sample_blocks <= 1) continue;
    std::uint32_t* bins = batch.sample_bins + static_cast<std::int64_t>(which) * kSampleBins;
    for (int i = static_cast<int>(threadIdx.x); i < kSampleBins; i += kBlockThreads) bins[i] = 0;
    if (threadIdx.x == 0) batch.sample_done[which] = 0;
  }
}

template <Rule kRule, Mode kMode>
__global__ void __launch_bounds__(kBlockThreads, 2) finish(const Batch batch) {
  using Traits = RuleTraits<kRule, kMode>;
  // Each step is an object of its own. If they were members of one object and held each other by
  // reference, nvcc would keep them in local memory.
  Share<kRule, kMode> share(batch, shared_memory<FinishShared>());
  Tally<kRule, kMode> tally(share);
  Selecting<kRule, kMode> selecting(share, tally);
  Sending<kRule, kMode> sending(share, tally);
  if (Traits::kTakesMoments) {
    add_chunks(share);
    share.meet();
  }
  if (Traits::kTakesSample) selecting.search_samples();
  if (Traits::kCounts) {
    share.for_each_part([&](const Part& part) { selecting.count_candidates(part); });
    share.meet();
  }
  share.for_each_part([&](const Part& part) { selecting.settle(part); });
  tally.count_all(false);
  share.meet();
  if (share.is_unusual()) {
    selecting.fall_back();
    tally.count_all(true);
    share.meet();
  }
  if (Traits::kDrawsFromTop) {
    share.for_each_part([&](const Part& part) { selecting.find_in_list(part); });
    sending.draw();
    tally.count_drawn_all();
    share.meet();
  }
  share.for_each_part([&](const Part& part) {
    const int listed = Traits::kDrawsFromTop ? 0 : selecting.find_in_list(part);
    sending.send(part, listed);
  });
  clear_samples(share);
}

}  // namespace gradcast::GRADCAST_DEVICE
