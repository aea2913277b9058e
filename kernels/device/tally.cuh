// Finds what each tile sends, and its place in the output: counts of tiles, totals of blocks.
#pragma once
#include "kernels/device/share.cuh"

namespace gradcast::GRADCAST_DEVICE {

__device__ __forceinline__ bool is_above(const Cut& cut, Key key, std::uint32_t index) {
  return key > cut.key || (key == cut.key && index < cut.end);
}

/// Numbers what is taken, by rising index, from the count of the tiles before on: `offset[v.tile]`.
struct Placing {
  const std::uint32_t* offset;
  std::uint32_t in_rows = 0;  // of the tile, before

  /// The number of this lane's element; 0 where it is not taken.
  __device__ std::uint32_t place(const Visit& v, bool taken) {
    const std::uint32_t all = ballot(taken) & v.peers;
    if (v.first) in_rows = 0;
    const std::uint32_t below = all & ((1u << lane_of_thread()) - 1);
    const std::uint32_t number =
        taken ? offset[v.tile] + in_rows + static_cast<std::uint32_t>(count_bits(below)) : 0;
    in_rows += static_cast<std::uint32_t>(count_bits(all));
    return number;
  }
};

/// True for the elements that rTop-k draws among those that Top-r takes.
template <Rule kRule, Mode kMode>
__device__ bool is_drawn(Share<kRule, kMode>& share, const Part& part, const Visit& v) {
  const Segment& segment = share.segment_of(part);
  return !share.is_ruled(segment) || random_key(segment.seed + *share.batch().round, v.index) >=
                                         share.notes_of(part).radix.prefix;
}

template <Rule kRule, Mode kMode>
class Tally {
  using Traits = RuleTraits<kRule, kMode>;

 public:
  explicit __device__ Tally(Share<kRule, kMode>& share)
      : share_(share), batch_(share.batch()), shared_(share.shared()) {}

  /// Tallies what lies above the cut, and lists the keys among which the cut is to be found. Parts
  /// whose cut is not known yet are left out; the others, `late`, are tallied after falling back.
  __device__ void count_all(bool late) {
    if (!late && threadIdx.x == 0 &&
        batch_.shares[share_.block()] == batch_.shares[share_.block() + 1])
      batch_.block_totals[share_.block()] = batch_.block_ties[share_.block()] = 0;
    share_.for_each_part([&](const Part& part) {
      if (share_.notes_of(part).falls_back() == late) count(part);
    });
  }

  /// Tallies what rTop-k has drawn.
  __device__ void count_drawn_all() {
    share_.for_each_part([&](const Part& part) {
      const Cut cut = share_.notes_of(part).cut;
      count_where(part, batch_.block_totals, [&](const Visit& v) {
        return v.valid && is_above(cut, v.key, v.index) && is_drawn(share_, part, v);
      });
    });
  }

  /// Counts a part's ties, tile by tile, instead of what it sends.
  __device__ void count_ties(const Part& part) {
    const Key key = share_.notes_of(part).cut.key;
    count_where(part, batch_.block_ties, [&](const Visit& v) { return v.valid && v.key == key; });
  }

  /// Walks a part in runs of 256 tiles: body(first tile of the run, tiles) with the shared memory's
  /// `offset` filled in for them. `before` is what the segment's parts before count. `listed`
  /// entries of the shared list are added where they are above the cut. Returns the count up to
  /// the part's end.
  template <class Body>
  __device__ std::uint32_t for_each_run(const Part& part, std::uint32_t before, int listed,
                                        const Body& body) {
    const std::int64_t first = share_.first_tile(part);
    const std::int64_t end = first + (part.end_group - part.first_group) * kGroupTiles;
    const int thread = static_cast<int>(threadIdx.x);
    for (std::int64_t tile = first; tile < end; tile += kBlockThreads) {
      const int count = end - tile < kBlockThreads ? static_cast<int>(end - tile) : kBlockThreads;
      std::uint32_t own = thread < count ? batch_.tile_selected[tile + thread] : 0;
      if (listed > 0) own += listed_of_tile(part, tile, listed);
      const auto scan = block_scan(own, shared_.scratch);
      shared_.offset[thread] = before + scan.before;
      block_barrier();
      if (scan.total != 0) body(tile, count);
      block_barrier();
      before += scan.total;
    }
    return before;
  }

  /// Counts this thread's entries of the list that lie above the cut and in tiles before the part.
  __device__ std::uint32_t listed_before(const Part& part, int listed) {
    const Segment& segment = share_.segment_of(part);
    const Cut cut = share_.notes_of(part).cut;
    const std::int64_t first = first_of_tile(segment, share_.first_tile(part));
    std::uint32_t own = 0;
    for (int i = static_cast<int>(threadIdx.x); i < listed; i += kBlockThreads)
      own += is_listed_above(segment, cut, i) && shared_.list[i].index < first ? 1 : 0;
    return own;
  }

 private:
  /// Counts the elements that `takes` names, by whole warps: tile by tile, and in the block's last
  /// part for the other blocks. True if a tile was read again.
  template <class Takes>
  __device__ bool count_where(const Part& part, std::uint32_t* of_blocks, const Takes& takes) {
    std::uint32_t* tiles = batch_.tile_selected + share_.first_tile(part);
    std::uint32_t in_rows = 0;
    std::uint32_t total = 0;  // the same in all lanes
    const auto body = [&](const Visit& v) {
      const std::uint32_t all = ballot(takes(v));
      total += static_cast<std::uint32_t>(count_bits(all));
      if (v.first) in_rows = 0;
      in_rows += static_cast<std::uint32_t>(count_bits(all & v.peers));
      if (v.in_range && v.last && v.leader) tiles[v.tile] = in_rows;
    };
    const bool reread = share_.visit_part(part, share_.notes_of(part).rereads, body);
    const std::uint32_t sum = block_scan(lane_of_thread() == 0 ? total : 0, shared_.scratch).total;
    if (threadIdx.x == 0 && share_.is_last(part)) of_blocks[share_.block()] = sum;
    block_barrier();
    return reread;
  }

  __device__ void count(const Part& part) {
    const Notes& notes = share_.notes_of(part);
    const Cut cut = notes.cut;
    const Key listed_from = notes.listed_from;
    const bool lists = Traits::kMayRank && notes.list_rank > 0;
    const bool reread = count_where(part, batch_.block_totals, [&](const Visit& v) {
      const bool taken = v.valid && is_above(cut, v.key, v.index);
      if (lists) append(part, v, v.valid && !taken && v.key >= listed_from);
      return taken;
    });
    if (reread && lane_of_thread() == 0)
      or_atomic(&share_.findings_of(part).path, notes.rereads ? kFullReread : kTilesReread);
  }

  /// The list's order does not matter. It has room: the histogram has counted its entries.
  __device__ void append(const Part& part, const Visit& v, bool listed) {
    const std::uint32_t votes = ballot(listed);
    if (votes == 0) return;
    const int first = lowest_bit(votes);
    std::uint32_t at = 0;
    if (lane_of_thread() == first)
      at = add_atomic(&share_.findings_of(part).listed,
                      static_cast<std::uint32_t>(count_bits(votes)));
    at = from_lane(at, first) +
         static_cast<std::uint32_t>(count_bits(votes & ((1u << lane_of_thread()) - 1)));
    if (listed)
      batch_.listed[static_cast<std::int64_t>(part.which) * kListed + at] = {v.bits, v.index};
  }

  __device__ bool is_listed_above(const Segment& segment, const Cut& cut, int i) const {
    const Candidate& entry = shared_.list[i];
    const std::uint64_t seed = segment.seed + *batch_.round;
    return is_above(cut, key_of<Traits::kRandomKeys>(float_of(entry.bits), seed, entry.index),
                    entry.index);
  }

  /// Number of the list's entries above the cut that lie in this thread's tile of a run.
  __device__ std::uint32_t listed_of_tile(const Part& part, std::int64_t run, int listed) {
    const Segment& segment = share_.segment_of(part);
    const Cut cut = share_.notes_of(part).cut;
    const std::int64_t first = first_of_tile(segment, run);
    shared_.added[threadIdx.x] = 0;
    block_barrier();
    for (int i = static_cast<int>(threadIdx.x); i < listed; i += kBlockThreads) {
      const std::int64_t from_run = static_cast<std::int64_t>(shared_.list[i].index) - first;
      if (from_run >= 0 && from_run < kBlockThreads * kTileElements &&
          is_listed_above(segment, cut, i))
        add_atomic(&shared_.added[from_run / kTileElements], 1);
    }
    block_barrier();
    return shared_.added[threadIdx.x];
  }

  Share<kRule, kMode>& share_;
  const Batch& batch_;
  FinishShared& shared_;
};

}  // namespace gradcast::GRADCAST_DEVICE
