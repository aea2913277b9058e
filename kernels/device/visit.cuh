// A block's second look at tiles: at their candidates if those are complete, at u itself if not.
#pragma once
#include "kernels/device/batch.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// What one lane sees. A whole warp sees a row together: the candidates of one or more tiles, or 32
/// neighbours of one tile. Both are by rising index.
struct Visit {
  int tile;             // of those visited, from 0; meaningful where in_range
  bool in_range;        // false: this lane looks at no tile
  bool first, last;     // row of its tile
  bool leader;          // the lane that writes what is found out about the tile
  std::uint32_t peers;  // lanes that look at the same tile
  bool valid;           // false: no element here
  Key key;
  std::uint32_t bits;   // of u
  std::uint32_t index;  // in the segment
};

template <bool kRandomKeys>
class TileVisitor {
 public:
  /// `reread`: the candidates are not enough for any tile.
  __device__ TileVisitor(const Batch& batch, const Segment& segment, bool reread)
      : batch_(batch),
        segment_(segment),
        seed_(segment.seed + *batch.round),
        reread_(reread),
        lane_(lane_of_thread()),
        slot_(lane_ % batch.slots),
        per_row_(kLanes / batch.slots) {}

  /// Calls body(visit) for `count` tiles from `first` on, whole warps together; the block's warps
  /// take rows in turn. True where a tile had more candidates than slots.
  template <class Body>
  __device__ bool visit(std::int64_t first, int count, Body& body) {
    bool overflowed = false;
    const int rows = (count + per_row_ - 1) / per_row_;
    int held[kAtOnce];
    load_held(first, count, warp_of_thread(), held);
    for (int row = warp_of_thread(); row < rows; row += kAtOnce * kBlockWarps) {
      Candidate candidates[kAtOnce];
      GRADCAST_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        candidates[i] = {0, 0};
        if (!reread_ && held[i] <= batch_.slots && slot_ < held[i])
          candidates[i] =
              batch_
                  .candidates[(first + tile_of_lane(row + i * kBlockWarps)) * batch_.slots + slot_];
      }
      int next_held[kAtOnce];
      load_held(first, count, row + kAtOnce * kBlockWarps, next_held);
      bool again_here = false;
      GRADCAST_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        if (row + i * kBlockWarps >= rows) continue;
        const int tile = tile_of_lane(row + i * kBlockWarps);
        const bool again = tile < count && (reread_ || held[i] > batch_.slots);
        again_here = again_here || again;
        slots_row(tile, tile < count && !again, held[i], candidates[i], body);
      }
      if (any(again_here)) {
        overflowed = true;
        reread_turn(first, count, row, body);
      }
      GRADCAST_UNROLL
      for (int i = 0; i < kAtOnce; ++i) held[i] = next_held[i];
    }
    return overflowed;
  }

 private:
  static constexpr int kAtOnce = 4;  // rows whose loads are in flight together

  /// Loads how many candidates the tiles of a turn's rows have. It does so a turn ahead, so that
  /// nothing waits for it.
  __device__ void load_held(std::int64_t first, int count, int row, int (&held)[kAtOnce]) {
    GRADCAST_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      const int tile = tile_of_lane(row + i * kBlockWarps);
      held[i] = tile < count ? static_cast<int>(batch_.tile_candidates[first + tile]) : 0;
    }
  }

  /// Handles the tiles of a turn's rows whose candidates are not complete. This is rare, so it is a
  /// function of its own.
  template <class Body>
  __device__ void reread_turn(std::int64_t first, int count, int row, Body& body) {
    GRADCAST_NO_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      const int tile = tile_of_lane(row + i * kBlockWarps);
      const bool again =
          tile < count &&
          (reread_ || static_cast<int>(batch_.tile_candidates[first + tile]) > batch_.slots);
      reread_tiles(first, tile, ballot(again && slot_ == 0), body);
    }
  }

  __device__ int tile_of_lane(int row) const { return row * per_row_ + lane_ / batch_.slots; }

  template <class Body>
  __device__ void slots_row(int tile, bool in_range, int held, const Candidate& candidate,
                            Body& body) {
    if (!any(in_range)) return;
    Visit v{};
    v.tile = tile;
    v.in_range = in_range;
    v.first = v.last = true;
    v.leader = slot_ == 0;
    v.peers = batch_.slots == kLanes ? kEveryLane : ((1u << batch_.slots) - 1) << (lane_ - slot_);
    v.valid = in_range && slot_ < held;
    v.bits = candidate.bits;
    v.index = candidate.index;
    v.key = key_of<kRandomKeys>(float_of(v.bits), seed_, v.index);
    body(v);
  }

  /// Visits the tiles of the lanes in `leaders`, one after another, 32 elements at a time.
  template <class Body>
  __device__ void reread_tiles(std::int64_t first, int tile_here, std::uint32_t leaders,
                               Body& body) {
    constexpr int kRowsAtOnce = 8;  // whose loads are in flight together
    const std::int64_t tiles_before = static_cast<std::int64_t>(segment_.first_group) * kGroupTiles;
    for (; leaders != 0; leaders &= leaders - 1) {
      const int tile = from_lane(tile_here, lowest_bit(leaders));
      const std::int64_t begin = (first + tile - tiles_before) * kTileElements;
      GRADCAST_NO_UNROLL
      for (int row = 0; row < kTileElements / kLanes; row += kRowsAtOnce) {
        std::uint32_t bits[kRowsAtOnce];
        GRADCAST_UNROLL
        for (int j = 0; j < kRowsAtOnce; ++j) {
          const std::int64_t index = begin + (row + j) * kLanes + lane_;
          bits[j] = index < segment_.elements ? bits_of(segment_.residual[index]) : 0;
        }
        GRADCAST_UNROLL
        for (int j = 0; j < kRowsAtOnce; ++j) {
          const std::int64_t index = begin + (row + j) * kLanes + lane_;
          Visit v{};
          v.tile = tile;
          v.in_range = true;
          v.first = row + j == 0;
          v.last = row + j == kTileElements / kLanes - 1;
          v.leader = lane_ == 0;
          v.peers = kEveryLane;
          v.valid = index < segment_.elements;
          v.index = static_cast<std::uint32_t>(index);
          v.bits = bits[j];
          v.key = key_of<kRandomKeys>(float_of(v.bits), seed_, v.index);
          body(v);
        }
      }
    }
  }

  const Batch& batch_;
  const Segment& segment_;
  std::uint64_t seed_;
  bool reread_;
  int lane_;
  int slot_;
  int per_row_;  // tiles
};

}  // namespace gradcast::GRADCAST_DEVICE
