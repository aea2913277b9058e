// Adds the tiles' moments, chunk by chunk and then by segment, for Gaussian-k and Trimmed.
#pragma once
#include "kernels/device/moments.cuh"
#include "kernels/device/share.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Each block takes its chunks in turn.
template <Rule kRule, Mode kMode>
__device__ void add_chunks(Share<kRule, kMode>& share) {
  const Batch& batch = share.batch();
  for (int chunk = share.block(); chunk < batch.chunks; chunk += share.blocks()) {
    const Segment& segment = batch.segments[batch.chunk_segment[chunk]];
    const std::int64_t tile = static_cast<std::int64_t>(chunk - segment.first_chunk) * kTreeWidth;
    const std::int64_t first = static_cast<std::int64_t>(segment.first_group) * kGroupMomentTiles;
    const Moments sum = sum_of(batch.tile_moments + first + tile, moment_tiles_of(segment) - tile,
                               share.shared().scratch);
    if (threadIdx.x == 0) batch.chunk_moments[chunk] = sum;
  }
}

/// The moments of a whole segment: adds the chunks' sums by 256, and again by 256 (2^31 elements
/// have 8192 chunks).
template <Rule kRule, Mode kMode>
__device__ Moments moments_of(Share<kRule, kMode>& share, const Segment& segment) {
  FinishShared& shared = share.shared();
  const int chunks = static_cast<int>((moment_tiles_of(segment) + kTreeWidth - 1) / kTreeWidth);
  const int trees = (chunks + kTreeWidth - 1) / kTreeWidth;
  const int thread = static_cast<int>(threadIdx.x);
  for (int tree = 0; tree < trees; ++tree) {
    const int chunk = tree * kTreeWidth;
    const Moments sum = sum_of(share.batch().chunk_moments + segment.first_chunk + chunk,
                               chunks - chunk, shared.scratch);
    if (thread == 0) shared.sums[tree] = sum;
  }
  block_barrier();
  const Moments total = trees > 1 ? sum_of(shared.sums, trees, shared.scratch) : shared.sums[0];
  block_barrier();
  return total;
}

}  // namespace gradcast::GRADCAST_DEVICE
