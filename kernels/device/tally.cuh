// Finds what each tile sends, and its place in the output: counts of tiles, totals of blocks.
#pragma once
#include "kernels/device/share.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Says for each visited element whether the selection takes it. Ties are numbered by the ties in
/// the tiles before, `ties_before[v.tile]`, and by those in rows before.
class Taking {
 public:
  __device__ Taking(const Selected& selected, const std::uint32_t* ties_before)
      : selected_(selected), ties_before_(ties_before), below_((1u << lane_of_thread()) - 1) {}

  __device__ bool takes(const Visit& v) {
    if (v.first) ties_in_rows_ = 0;
    const bool tie = v.valid && v.key == selected_.key;
    const std::uint32_t ties = ballot(tie) & v.peers;
    bool taken = v.valid && v.key > selected_.key;
    if (tie)
      taken = selected_.ties == kAllTies ||
              ties_before_[v.tile] + ties_in_rows_ + count_bits(ties & below_) < selected_.ties;
    ties_in_rows_ += count_bits(ties);
    return taken;
  }

 private:
  Selected selected_;
  const std::uint32_t* ties_before_;
  std::uint32_t below_;
  std::uint32_t ties_in_rows_ = 0;
};

/// True for the elements that rTop-k draws among those that Top-r takes.
template <Rule kRule, Mode kMode>
__device__ bool is_drawn(Share<kRule, kMode>& share, const Part& part, const Visit& v) {
  const Segment& segment = share.segment_of(part);
  return !share.is_ruled(segment) || random_key(segment.seed + *share.batch().round, v.index) >=
                                         share.notes_of(part).radix.prefix;
}

__device__ inline const std::uint32_t* tile_ties_of(const Batch& batch, const Part& part) {
  return batch.tile_ties + static_cast<std::int64_t>(part.first_group) * kGroupTiles;
}

template <Rule kRule, Mode kMode>
class Tally {
 public:
  explicit __device__ Tally(Share<kRule, kMode>& share)
      : share_(share), batch_(share.batch()), shared_(share.shared()) {}

  /// Tallies the selected elements or, after rTop-k's draw, the drawn ones.
  __device__ void count_all(bool drawn) {
    if (threadIdx.x == 0) batch_.block_totals[share_.block()] = {0, 0};
    share_.for_each_part([&](const Part& part) {
      if (drawn) {
        count_drawn(part);
      } else {
        count(part);
      }
    });
  }

  /// Walks a part in runs of 256 tiles: body(first tile of the run, tiles) with the shared memory's
  /// `ties` and `offset` filled in for them. Returns how many elements of the segment are sent up
  /// to the part's end.
  template <class Body>
  __device__ std::uint32_t for_each_run(const Part& part, const Body& body) {
    const std::uint32_t quota = share_.notes_of(part).selected.ties;
    const auto ties_sent = [&](std::uint32_t ties) { return ties < quota ? ties : quota; };
    BlockTotal before = total_before(part);
    const std::int64_t first = static_cast<std::int64_t>(part.first_group) * kGroupTiles;
    const std::int64_t end = static_cast<std::int64_t>(part.end_group) * kGroupTiles;
    for (std::int64_t tile = first; tile < end; tile += kBlockThreads) {
      const int count = end - tile < kBlockThreads ? static_cast<int>(end - tile) : kBlockThreads;
      const std::uint32_t packed =
          static_cast<int>(threadIdx.x) < count ? batch_.tile_selected[tile + threadIdx.x] : 0;
      const auto scan = block_scan(
          static_cast<std::uint64_t>(packed & 0xffffu) << 32 | packed >> 16, shared_.scratch);
      const std::uint32_t ties = before.ties + static_cast<std::uint32_t>(scan.before);
      shared_.ties[threadIdx.x] = ties;
      shared_.offset[threadIdx.x] =
          before.above + static_cast<std::uint32_t>(scan.before >> 32) + ties_sent(ties);
      block_barrier();
      if (scan.total != 0) body(tile, count);
      block_barrier();
      before.above += static_cast<std::uint32_t>(scan.total >> 32);
      before.ties += static_cast<std::uint32_t>(scan.total);
    }
    return before.above + ties_sent(before.ties);
  }

 private:
  /// Counts keys above the selection's and equal to it, tile by tile.
  __device__ void count(const Part& part) {
    const Notes& notes = share_.notes_of(part);
    if (notes.needs_counts) return;  // not decided yet: once more after falling back
    const Selected selected = notes.selected;
    std::uint32_t* tiles =
        batch_.tile_selected + static_cast<std::int64_t>(part.first_group) * kGroupTiles;
    std::uint32_t above_in_rows = 0;
    std::uint32_t ties_in_rows = 0;
    BlockTotal total{0, 0};
    const auto body = [&](const Visit& v) {
      const std::uint32_t above = ballot(v.valid && v.key > selected.key);
      const std::uint32_t ties = ballot(v.valid && v.key == selected.key);
      total.above += count_bits(above);
      total.ties += count_bits(ties);
      if (v.first) above_in_rows = ties_in_rows = 0;
      above_in_rows += count_bits(above & v.peers);
      ties_in_rows += count_bits(ties & v.peers);
      if (v.in_range && v.last && v.leader) tiles[v.tile] = above_in_rows | ties_in_rows << 16;
    };
    const bool overflowed = share_.visit_part(part, notes.rereads, body);
    if (overflowed && lane_of_thread() == 0)
      or_atomic(&share_.findings_of(part).path, notes.rereads ? kFullReread : kTilesReread);
    keep_total(total);
  }

  __device__ void count_drawn(const Part& part) {
    const Notes& notes = share_.notes_of(part);
    std::uint32_t* tiles =
        batch_.tile_selected + static_cast<std::int64_t>(part.first_group) * kGroupTiles;
    Taking taking(notes.selected, tile_ties_of(batch_, part));
    std::uint32_t in_rows = 0;
    BlockTotal total{0, 0};
    const auto body = [&](const Visit& v) {
      const bool taken = taking.takes(v) && is_drawn(share_, part, v);
      const std::uint32_t all = ballot(taken);
      total.above += count_bits(all);
      if (v.first) in_rows = 0;
      in_rows += count_bits(all & v.peers);
      if (v.in_range && v.last && v.leader) tiles[v.tile] = in_rows;
    };
    share_.visit_part(part, notes.rereads, body);
    keep_total(total);
  }

  /// `total` is the same in all lanes of a warp. Of the block's parts the last one's stays.
  __device__ void keep_total(const BlockTotal& total) {
    const bool counts = lane_of_thread() == 0;
    const std::uint32_t above = block_scan(counts ? total.above : 0, shared_.scratch).total;
    const std::uint32_t ties = block_scan(counts ? total.ties : 0, shared_.scratch).total;
    if (threadIdx.x == 0) batch_.block_totals[share_.block()] = {above, ties};
    block_barrier();
  }

  /// The totals of this part's segment in the blocks before. The segment is the last part of each
  /// of them.
  __device__ BlockTotal total_before(const Part& part) {
    const Segment& segment = share_.segment_of(part);
    if (part.first_group == segment.first_group) return {0, 0};
    BlockTotal own{0, 0};
    for (int block = segment.first_block + static_cast<int>(threadIdx.x); block < share_.block();
         block += kBlockThreads) {
      own.above += batch_.block_totals[block].above;
      own.ties += batch_.block_totals[block].ties;
    }
    return {block_scan(own.above, shared_.scratch).total,
            block_scan(own.ties, shared_.scratch).total};
  }

  Share<kRule, kMode>& share_;
  const Batch& batch_;
  FinishShared& shared_;
};

}  // namespace gradcast::GRADCAST_DEVICE
