// The streaming kernel. It reads gradient and residual once, writes u in the residual's place, and
// catches the elements that may be selected. It moves 12 bytes an element, and no block waits for
// another.
#pragma once
#include "kernels/device/batch.cuh"
#include "kernels/device/block.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// One warp's tile.
template <bool kRandomKeys, bool kTakesMoments, bool kOfMagnitudes>
class TileStream {
 public:
  __device__ TileStream(const Batch& batch, int which, std::int64_t tile)
      : batch_(batch),
        segment_(batch.segments[which]),
        seed_(segment_.seed + (kRandomKeys ? *batch.round : 0)),
        floor_(batch.first_threshold[which]),
        bins_(batch.candidate_bins + static_cast<std::int64_t>(which) * kCandidateBins),
        tile_(tile),
        first_((tile - static_cast<std::int64_t>(segment_.first_group) * kGroupTiles) *
               kTileElements),
        lane_(lane_of_thread()) {}

  __device__ void run() {
    if (segment_.aligned && first_ + kTileElements <= segment_.elements) {
      whole_tile();
    } else {
      part_of_tile();
    }
    if (lane_ == 0) batch_.tile_candidates[tile_] = static_cast<std::uint32_t>(caught_);
    if (kTakesMoments) {
      moments_ = warp_tree(moments_);
      if (lane_ == 0) batch_.tile_moments[tile_] = moments_;
    }
  }

 private:
  /// Rows of 128 elements, four to a lane, four rows' loads in flight before the first is used.
  __device__ void whole_tile() {
    const Quad* gradient = reinterpret_cast<const Quad*>(segment_.gradient + first_) + lane_;
    Quad* residual = reinterpret_cast<Quad*>(segment_.residual + first_) + lane_;
    for (int half = 0; half < 2; ++half) {
      Quad g[4];
      Quad e[4];
      GRADCAST_UNROLL
      for (int r = 0; r < 4; ++r) {
        g[r] = read_once(gradient + (4 * half + r) * kLanes);
        e[r] = read_old(residual + (4 * half + r) * kLanes);
      }
      GRADCAST_UNROLL
      for (int r = 0; r < 4; ++r) {
        const float u[4] = {add_feedback(g[r].x, e[r].x), add_feedback(g[r].y, e[r].y),
                            add_feedback(g[r].z, e[r].z), add_feedback(g[r].w, e[r].w)};
        write_through(residual + (4 * half + r) * kLanes, Quad{u[0], u[1], u[2], u[3]});
        row(u, 4 * half + r, 4);
      }
    }
  }

  /// The end of a segment, or one that is not aligned: element by element.
  __device__ void part_of_tile() {
    for (int r = 0; r < 8; ++r) {
      const std::int64_t at = first_ + 128 * r + 4 * lane_;
      const std::int64_t left = segment_.elements - at;
      const int valid = left >= 4 ? 4 : left > 0 ? static_cast<int>(left) : 0;
      const float* gradient = segment_.gradient + at;
      float* residual = segment_.residual + at;
      float u[4] = {};
      float e[4] = {};
      GRADCAST_UNROLL
      for (int c = 0; c < 4; ++c) {
        if (c >= valid) continue;
        u[c] = gradient[c];
        e[c] = residual[c];
      }
      GRADCAST_UNROLL
      for (int c = 0; c < 4; ++c) {
        if (c >= valid) continue;
        u[c] = add_feedback(u[c], e[c]);
        residual[c] = u[c];
      }
      row(u, r, valid);
    }
  }

  /// `valid` of this lane's four are elements. Whole warps call it.
  __device__ void row(const float (&u)[4], int r, int valid) {
    const std::uint32_t index = static_cast<std::uint32_t>(first_) + 128 * r + 4 * lane_;
    Key keys[4];
    bool may_be = false;
    GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c) {
      keys[c] = key_of<kRandomKeys>(u[c], seed_, index + c);
      may_be = may_be || (c < valid && keys[c] >= floor_);
      if (kTakesMoments && c < valid) take<kOfMagnitudes>(moments_, u[c]);
    }
    if (any(may_be)) catch_candidates(u, keys, index, valid);
  }

  /// Puts candidates into the tile's slots, by rising index, as far as there is room, and counts
  /// all of them. This is rare.
  __device__ void catch_candidates(const float (&u)[4], const Key (&keys)[4], std::uint32_t index,
                                   int valid) {
    const std::uint32_t below = (1u << lane_) - 1;
    int before = caught_;
    std::uint32_t votes[4];
    GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c) {
      votes[c] = ballot(c < valid && keys[c] >= floor_);
      before += count_bits(votes[c] & below);
      caught_ += count_bits(votes[c]);
    }
    Candidate* slots = batch_.candidates + tile_ * batch_.slots;
    GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c) {
      const bool own = (votes[c] >> lane_ & 1u) != 0;
      count_in(bins_, CandidateBins<kRandomKeys>::of(keys[c], floor_), own);
      if (own && before < batch_.slots) slots[before] = {bits_of(u[c]), index + c};
      if (own) ++before;
    }
  }

  const Batch& batch_;
  const Segment& segment_;
  std::uint64_t seed_;
  Key floor_;
  std::uint32_t* bins_;
  std::int64_t tile_;
  std::int64_t first_;  // element
  int lane_;
  int caught_ = 0;
  Moments moments_;
};

template <bool kRandomKeys, bool kTakesMoments, bool kOfMagnitudes>
__global__ void __launch_bounds__(kBlockThreads, 4) stream(const Batch batch) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * kGroupTiles + warp_of_thread();
  TileStream<kRandomKeys, kTakesMoments, kOfMagnitudes>(batch, batch.group_segment[blockIdx.x],
                                                        tile)
      .run();
}

}  // namespace gradcast::GRADCAST_DEVICE
