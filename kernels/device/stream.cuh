// The streaming kernel. It reads gradient and residual once, writes u in the residual's place, and
// catches the elements that may be selected. It moves 12 bytes an element, and no block waits for
// another.
#pragma once
#include "kernels/device/batch.cuh"
#include "kernels/device/moments.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Room in which each warp puts a tile's candidates in order, before it writes them out together. A
/// tile's elements fit in as well.
struct StreamShared {
  Candidate caught[kBlockWarps][kMostSlots];
};
static_assert(kMostSlots * sizeof(Candidate) >= kTileElements * sizeof(float));

/// One warp's tiles, one after another. Each lane has 16 elements of a tile, of four rows of 128.
template <bool kRandomKeys, bool kTakesMoments, bool kOfMagnitudes, bool kRanks>
class TileStream {
  static constexpr MomentsOf kMomentsOf = kOfMagnitudes ? MomentsOf::Magnitudes : MomentsOf::Values;

 public:
  __device__ TileStream(const Batch& batch, int which, Candidate* caught)
      : batch_(batch),
        segment_(batch.segments[which]),
        seed_(segment_.seed + (kRandomKeys ? *batch.round : 0)),
        floor_(batch.first_threshold[which]),
        bins_(batch.candidate_bins + static_cast<std::int64_t>(which) * kCandidateBins),
        status_(&batch.findings[which].path),
        caught_(caught),
        lane_(lane_of_thread()) {}

  __device__ void take_tile(std::int64_t tile) {
    const std::int64_t first = first_of_tile(segment_, tile);
    float u[16];
    std::uint32_t valid = 0xffffu;
    const bool whole = segment_.aligned && first >= 0 && first + kTileElements <= segment_.elements;
    as_typed(segment_.gradient, [&](const auto& gradient) {
      if (whole) {
        form_whole(gradient, first, u);
      } else {
        valid = form_part(gradient, first, u);
      }
    });
    if (kTakesMoments) {
      GRADCAST_UNROLL
      for (int i = 0; i < 16; ++i)
        if (valid >> i & 1u) take<kMomentsOf, kOfMagnitudes>(moments_, u[i]);
    }
    catch_candidates(tile, static_cast<std::uint32_t>(first) + 4 * lane_, u, valid);
  }

  __device__ Moments moments() const { return moments_; }

 private:
  /// All loads are in flight before the first is used.
  template <class Gradient>
  __device__ void form_whole(const Gradient& gradient, std::int64_t first, float (&u)[16]) {
    Quad* residual = reinterpret_cast<Quad*>(segment_.residual + first) + lane_;
    typename Gradient::Four loaded[4];
    Quad e[4];
    GRADCAST_UNROLL
    for (int r = 0; r < 4; ++r) {
      loaded[r] = gradient.read_four(first + 4 * (r * kLanes + lane_));
      e[r] = read_old(residual + r * kLanes);
    }
    GRADCAST_UNROLL
    for (int r = 0; r < 4; ++r) {
      const Quad g = Gradient::widened(loaded[r]);
      u[4 * r] = add_feedback(g.x, e[r].x);
      u[4 * r + 1] = add_feedback(g.y, e[r].y);
      u[4 * r + 2] = add_feedback(g.z, e[r].z);
      u[4 * r + 3] = add_feedback(g.w, e[r].w);
      write_through(residual + r * kLanes,
                    Quad{u[4 * r], u[4 * r + 1], u[4 * r + 2], u[4 * r + 3]});
    }
  }

  /// The ends of a segment, or one that is not aligned: lanes read neighbours, and exchange them
  /// through shared memory. Places outside load an element inside, so that no load waits for a
  /// branch. Returns which of u's 16 are elements.
  template <class Gradient>
  __device__ std::uint32_t form_part(const Gradient& gradient, std::int64_t first, float (&u)[16]) {
    constexpr int kAtOnce = 4;
    float* exchanged = reinterpret_cast<float*>(caught_);
    GRADCAST_NO_UNROLL
    for (int row = 0; row < kTileElements / kLanes; row += kAtOnce) {
      float g[kAtOnce];
      float e[kAtOnce];
      GRADCAST_UNROLL
      for (int n = 0; n < kAtOnce; ++n) {
        const std::int64_t at = first + (row + n) * kLanes + lane_;
        g[n] = gradient[is_inside(at) ? at : 0];
        e[n] = segment_.residual[is_inside(at) ? at : 0];
      }
      GRADCAST_UNROLL
      for (int n = 0; n < kAtOnce; ++n) {
        const std::int64_t at = first + (row + n) * kLanes + lane_;
        g[n] = add_feedback(g[n], e[n]);
        exchanged[(row + n) * kLanes + lane_] = g[n];
        if (is_inside(at)) segment_.residual[at] = g[n];
      }
    }
    warp_barrier();
    std::uint32_t valid = 0;
    GRADCAST_UNROLL
    for (int i = 0; i < 16; ++i) {
      const int place = 128 * (i / 4) + 4 * lane_ + i % 4;
      u[i] = exchanged[place];
      if (is_inside(first + place)) valid |= 1u << i;
    }
    warp_barrier();
    return valid;
  }

  __device__ bool is_inside(std::int64_t at) const { return at >= 0 && at < segment_.elements; }

  /// Writes the tile's candidates into its slots, by rising index. If there are more than slots, it
  /// writes none.
  __device__ void catch_candidates(std::int64_t tile, std::uint32_t index, const float (&u)[16],
                                   std::uint32_t valid) {
    std::uint32_t own = 0;
    if (kRandomKeys) {
      bool unfinite = false;
      GRADCAST_UNROLL
      for (int i = 0; i < 16; ++i)
        unfinite = unfinite || ((valid >> i & 1u) != 0 && !is_finite(u[i]));
      if (unfinite) or_atomic(status_, kNotFinite);
      // No u is needed for these, and all 16 at once would need too many registers.
      GRADCAST_UNROLL_BY_4
      for (int i = 0; i < 16; ++i)
        if (random_key(seed_, index_at(i, index)) >= floor_) own |= 1u << i;
    } else {
      GRADCAST_UNROLL
      for (int i = 0; i < 16; ++i)
        if (magnitude_key(u[i]) >= floor_) own |= 1u << i;
    }
    own &= valid;
    std::uint32_t held = 0;
    if (any(own != 0)) held = place(tile, index, u, own);
    if (lane_ == 0) batch_.tile_candidates[tile] = held;
  }

  /// Returns how many candidates there are.
  __device__ std::uint32_t place(std::int64_t tile, std::uint32_t index, const float (&u)[16],
                                 std::uint32_t own) {
    const std::uint32_t counts = counts_of_rows(own);
    const std::uint32_t sums = warp_scan(counts);
    const std::uint32_t rows = from_lane(sums, kLanes - 1);
    const std::uint32_t before = sums - counts;
    std::uint32_t held = 0;
    std::uint32_t first_of_row[4];
    GRADCAST_UNROLL
    for (int r = 0; r < 4; ++r) {
      first_of_row[r] = held + (before >> 8 * r & 0xffu);
      held += rows >> 8 * r & 0xffu;
    }
    if (held > static_cast<std::uint32_t>(batch_.slots)) {
      if (kRanks) count_all(index, u, own);
      GRADCAST_UNROLL
      for (int i = 0; i < 16; ++i)
        if (own >> i & 1u) note(u[i]);
      return held;
    }
    GRADCAST_UNROLL
    for (int r = 0; r < 4; ++r) {
      if ((own >> 4 * r & 0xfu) == 0) continue;
      std::uint32_t at = first_of_row[r];
      GRADCAST_UNROLL
      for (int i = 4 * r; i < 4 * r + 4; ++i)
        if (own >> i & 1u) caught_[at++] = {bits_of(u[i]), index_at(i, index)};
    }
    warp_barrier();
    write_out(tile, held);
    warp_barrier();
    return held;
  }

  /// Four counts of candidates, of 8 bits each: of each row's four bits in `own`.
  __device__ static std::uint32_t counts_of_rows(std::uint32_t own) {
    std::uint32_t counts = own - (own >> 1 & 0x5555u);
    counts = (counts & 0x3333u) + (counts >> 2 & 0x3333u);
    counts = (counts | counts << 8) & 0x00ff00ffu;
    return (counts | counts << 4) & 0x0f0f0f0fu;
  }

  /// A lane has a candidate each. The rules that never take the k largest need no histogram.
  __device__ void write_out(std::int64_t tile, std::uint32_t held) {
    Candidate* slots = batch_.candidates + tile * batch_.slots;
    const CandidateBins<kRandomKeys> bins(floor_);
    for (std::uint32_t first = 0; first < held; first += kLanes) {
      const bool has = first + lane_ < held;
      const Candidate own = caught_[has ? first + lane_ : first];
      if (kRanks)
        count_in(bins_, bins.of(key_of<kRandomKeys>(float_of(own.bits), seed_, own.index)), has);
      if (has) slots[first + lane_] = own;
      note(float_of(own.bits));
    }
  }

  /// For a tile with more candidates than slots: all of them go into the histogram.
  __device__ void count_all(std::uint32_t index, const float (&u)[16], std::uint32_t own) {
    const CandidateBins<kRandomKeys> bins(floor_);
    GRADCAST_UNROLL
    for (int i = 0; i < 16; ++i)
      count_in(bins_, bins.of(key_at(u, i, index)), (own >> i & 1u) != 0);
  }

  /// Candidates alone tell where keys are magnitudes: infinities and NaNs are always candidates.
  __device__ void note(float value) {
    if (!is_finite(value)) or_atomic(status_, kNotFinite);
  }

  /// Index in the segment of the lane's element i.
  __device__ static std::uint32_t index_at(int i, std::uint32_t index) {
    return index + 128 * (i / 4) + i % 4;
  }
  __device__ Key key_at(const float (&u)[16], int i, std::uint32_t index) const {
    return key_of<kRandomKeys>(u[i], seed_, index_at(i, index));
  }

  const Batch& batch_;
  const Segment& segment_;
  std::uint64_t seed_;
  Key floor_;
  std::uint32_t* bins_;
  std::uint32_t* status_;
  Candidate* caught_;
  int lane_;
  Moments moments_;
};

/// Tiles that a warp takes where it adds moments up: those of a moment tile.
inline constexpr int kMomentTiles = kMomentElements / kTileElements;

template <bool kRandomKeys, bool kTakesMoments, bool kOfMagnitudes, bool kRanks>
__global__ void __launch_bounds__(kBlockThreads, 4) stream(const Batch batch) {
  const int of_warp = kTakesMoments ? kMomentTiles : batch.warp_tiles;
  const std::int64_t tile =
      (static_cast<std::int64_t>(blockIdx.x) * kBlockWarps + warp_of_thread()) * of_warp;
  TileStream<kRandomKeys, kTakesMoments, kOfMagnitudes, kRanks> warp(
      batch, batch.group_segment[tile / kGroupTiles],
      shared_memory<StreamShared>().caught[warp_of_thread()]);
  GRADCAST_NO_UNROLL
  for (int i = 0; i < of_warp; ++i) warp.take_tile(tile + i);
  if (kTakesMoments) {
    const Moments moments = warp_tree(warp.moments());
    if (lane_of_thread() == 0) batch.tile_moments[tile / kMomentTiles] = moments;
  }
}

}  // namespace gradcast::GRADCAST_DEVICE
