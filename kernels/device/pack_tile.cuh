// u of a warp's tile, in registers: four of each lane's elements are neighbours.
#pragma once
#include "kernels/device/pack_batch.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Place in its tile of the lane's element i.
__device__ __forceinline__ int place_in_tile(int i) {
  return kRowElements * (i / 4) + 4 * lane_of_thread() + i % 4;
}

/// All loads are in flight before the first is used.
template <class Gradient>
__device__ __forceinline__ void form_whole_tile(const PackSegment& segment,
                                                const Gradient& gradient, std::int64_t first,
                                                float (&u)[kOfLane]) {
  typename Gradient::Four loaded[kRows];
  Quad e[kRows] = {};
  GRADCAST_UNROLL
  for (int r = 0; r < kRows; ++r)
    loaded[r] = gradient.read_four(first + 4 * (r * kLanes + lane_of_thread()));
  if (segment.residual != nullptr) {
    const Quad* residual =
        reinterpret_cast<const Quad*>(segment.residual + first) + lane_of_thread();
    GRADCAST_UNROLL
    for (int r = 0; r < kRows; ++r) e[r] = read_old(residual + r * kLanes);
  }
  GRADCAST_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const Quad g = Gradient::widened(loaded[r]);
    u[4 * r] = add_feedback(g.x, e[r].x);
    u[4 * r + 1] = add_feedback(g.y, e[r].y);
    u[4 * r + 2] = add_feedback(g.z, e[r].z);
    u[4 * r + 3] = add_feedback(g.w, e[r].w);
  }
}

/// The end of a tensor or of a unit, or a tensor that is not aligned. Neighbours are loaded one by
/// one: the lanes' first loads bring the lines, the other three find them in L1.
template <class Gradient>
__device__ __forceinline__ void form_part_of_tile(const PackSegment& segment,
                                                  const Gradient& gradient, std::int64_t first,
                                                  int count, float (&u)[kOfLane]) {
  GRADCAST_UNROLL
  for (int i = 0; i < kOfLane; ++i) {
    const int place = place_in_tile(i);
    const bool inside = place < count;
    const float g = inside ? gradient[first + place] : 0.0f;
    const float e = inside && segment.residual != nullptr ? segment.residual[first + place] : 0.0f;
    u[i] = add_feedback(g, e);
  }
}

/// The tile begins at `first` and has `count` elements, at most 256. The others are +0.
__device__ __forceinline__ void form_tile(const PackSegment& segment, std::int64_t first, int count,
                                          float (&u)[kOfLane]) {
  as_typed(segment.gradient, [&](const auto& gradient) {
    if (segment.aligned && count == kPackTileElements) {
      form_whole_tile(segment, gradient, first, u);
    } else {
      form_part_of_tile(segment, gradient, first, count, u);
    }
  });
}

/// Writes a quad from element `at` on: at once, or `count` elements one by one.
template <class Dense>
__device__ __forceinline__ void write_quad(const Dense& to, std::int64_t at, bool whole, int count,
                                           const float (&q)[4]) {
  if (whole) {
    to.write_four(at, {q[0], q[1], q[2], q[3]});
  } else {
    GRADCAST_UNROLL
    for (int c = 0; c < 4; ++c)
      if (c < count) to.write(at + c, q[c]);
  }
}

/// Elements of the tile that begins at `first`, of those before `end`.
__device__ __forceinline__ int count_of_tile(std::int64_t first, std::int64_t end) {
  const std::int64_t left = end - first;
  if (left <= 0) return 0;
  return left < kPackTileElements ? static_cast<int>(left) : kPackTileElements;
}

}  // namespace gradcast::GRADCAST_DEVICE
