// A block's second look at tiles: at their candidates if those are complete, at u itself if not.
#pragma once
#include "kernels/device/batch.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// One lane's view. A whole warp sees a row together: the candidates of one or more tiles, or 32
/// places of one tile. All are by rising index, and a warp sees all rows of a tile one after
/// another.
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
        slots_(batch.slots),
        reread_(reread),
        lane_(lane_of_thread()),
        lane_bits_(slots_ < kLanes ? bits_to_count(slots_) : bits_to_count(kLanes)),
        row_bits_(bits_to_count(slots_) - lane_bits_) {}

  /// Calls body(visit) for `count` tiles from `first` on, whole warps together; the block's warps
  /// take tiles in turn. True where a tile had more candidates than slots.
  template <class Body>
  __device__ bool visit(std::int64_t first, int count, Body& body) {
    bool overflowed = false;
    int held[kAtOnce];
    load_held(first, count, 0, held);
    for (int row = 0; tile_of(row) - (lane_ >> lane_bits_) < count; row += kAtOnce) {
      Candidate candidates[kAtOnce];
      GRADCAST_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        // A lane without a candidate loads what others load, so that none waits for a branch.
        const int slot = slot_of(row + i);
        const bool has = !reread_ && held[i] <= slots_ && slot < held[i];
        candidates[i] =
            batch_.candidates[(first + (has ? tile_of(row + i) : 0)) * slots_ + (has ? slot : 0)];
      }
      int next_held[kAtOnce];
      load_held(first, count, row + kAtOnce, next_held);
      bool again_here = false;
      GRADCAST_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        const int tile = tile_of(row + i);
        const bool again = tile < count && (reread_ || held[i] > slots_);
        again_here = again_here || (again && is_first(row + i));
        slots_row(row + i, tile < count && !again, held[i], candidates[i], body);
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
  static constexpr int kAtOnce = 2;  // rows whose loads are in flight together

  // A warp's rows are numbered from 0. A row has several tiles, or a tile several rows: all of them
  // are in one turn, or all rows of the turn are the tile's.
  __device__ static int bits_to_count(int power_of_two) {
    return kLanes - 1 - leading_zeros(static_cast<std::uint32_t>(power_of_two));
  }
  __device__ int tile_of(int row) const {
    const int rows = (row >> row_bits_) * kBlockWarps + warp_of_thread();
    return ((rows * kLanes) >> lane_bits_) + (lane_ >> lane_bits_);
  }
  __device__ bool is_first(int row) const { return (row & ((1 << row_bits_) - 1)) == 0; }
  /// Within the row.
  __device__ int place() const { return lane_ & ((1 << lane_bits_) - 1); }
  __device__ int slot_of(int row) const {
    return (row & ((1 << row_bits_) - 1)) * kLanes + place();
  }

  __device__ std::uint32_t peers_of_lane() const {
    const std::uint32_t alike = kEveryLane >> (kLanes - (1 << lane_bits_));
    return alike << (lane_ - place());
  }

  /// Loads how many candidates the tiles of a turn's rows have. It does so a turn ahead, so that
  /// nothing waits for it.
  __device__ void load_held(std::int64_t first, int count, int row, int (&held)[kAtOnce]) {
    GRADCAST_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      const int tile = tile_of(row + i);
      const auto loaded =
          static_cast<int>(batch_.tile_candidates[first + (tile < count ? tile : 0)]);
      held[i] = tile < count ? loaded : 0;
    }
  }

  /// Handles the tiles of a turn's rows whose candidates are not complete. This is rare, so it is a
  /// function of its own. A tile is handled where its first row is.
  template <class Body>
  __device__ void reread_turn(std::int64_t first, int count, int row, Body& body) {
    GRADCAST_NO_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      const int tile = tile_of(row + i);
      const bool again =
          tile < count && is_first(row + i) &&
          (reread_ || static_cast<int>(batch_.tile_candidates[first + tile]) > slots_);
      reread_tiles(first, tile, ballot(again && slot_of(row + i) == 0), body);
    }
  }

  template <class Body>
  __device__ void slots_row(int row, bool in_range, int held, const Candidate& candidate,
                            Body& body) {
    if (!any(in_range)) return;
    Visit v{};
    v.tile = tile_of(row);
    v.in_range = in_range;
    v.first = is_first(row);
    v.last = is_first(row + 1);
    v.leader = place() == 0;
    v.peers = peers_of_lane();
    v.valid = in_range && slot_of(row) < held;
    v.bits = candidate.bits;
    v.index = candidate.index;
    v.key = key_of<kRandomKeys>(float_of(v.bits), seed_, v.index);
    body(v);
  }

  /// Visits the tiles of the lanes in `leaders`, one after another, 32 elements at a time.
  template <class Body>
  __device__ void reread_tiles(std::int64_t first, int tile_here, std::uint32_t leaders,
                               Body& body) {
    constexpr int kRowsAtOnce = 4;  // whose loads are in flight together
    for (; leaders != 0; leaders &= leaders - 1) {
      const int tile = from_lane(tile_here, lowest_bit(leaders));
      const std::int64_t begin = first_of_tile(segment_, first + tile);
      GRADCAST_NO_UNROLL
      for (int row = 0; row < kTileElements / kLanes; row += kRowsAtOnce) {
        std::uint32_t bits[kRowsAtOnce];
        GRADCAST_UNROLL
        for (int j = 0; j < kRowsAtOnce; ++j) {
          const std::int64_t index = begin + (row + j) * kLanes + lane_;
          bits[j] = bits_of(segment_.residual[is_inside(index) ? index : 0]);
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
          v.valid = is_inside(index);
          v.index = static_cast<std::uint32_t>(index);
          v.bits = bits[j];
          v.key = key_of<kRandomKeys>(float_of(v.bits), seed_, v.index);
          body(v);
        }
      }
    }
  }

  __device__ bool is_inside(std::int64_t index) const {
    return index >= 0 && index < segment_.elements;
  }

  const Batch& batch_;
  const Segment& segment_;
  std::uint64_t seed_;
  int slots_;
  bool reread_;
  int lane_;
  int lane_bits_;  // of a lane's number: those that count a tile's slots in a row
  int row_bits_;   // of a row's number: those that count a tile's rows
};

}  // namespace gradcast::GRADCAST_DEVICE
