// The last kernel of an encode: from the candidates to the answer. All its blocks are resident at
// once and go through the same steps; between two of them they meet. Each block has the same share
// of the groups in every step, and finds out for itself what it needs to know of the segments in
// them, so that no block waits for a decision to be handed round.
//
//   moments       Gaussian-k, Trimmed: add the tiles' sums
//   sample        DGC: the key of the wanted rank in its sample
//   count         those three: how many candidates pass each threshold that may be needed
//   settle        threshold or rank; for a rank, the bin of the candidates' histogram that holds it
//   resolve       the key in that bin, and how many of its equals
//   fall back     (unusual) where the candidates do not tell: count in u, radix select over u
//   tally         what each tile sends
//   draw          rTop-k: of what would be sent, the k of the largest random keys
//   send          values, indices, and zeros in the residual
#pragma once
#include "kernels/device/radix.cuh"
#include "kernels/device/visit.cuh"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr int kSharedNotes = 8;  // a block with more parts keeps its notes in global memory

struct FinishShared {
  std::uint32_t bins[kRadixBins];
  std::uint32_t offset[kBlockThreads];
  std::uint32_t ties[kBlockThreads];
  Moments sums[kLanes];
  BlockScratch scratch;
  Notes notes[kSharedNotes];
};

/// A block's share of one segment.
struct Part {
  int which;   // segment
  int number;  // of the block's parts
  int first_group, end_group;
};

template <Rule kRule, Mode kMode>
class Finish {
  using Traits = RuleTraits<kRule, kMode>;
  using Visitor = TileVisitor<Traits::kRandomKeys>;
  using Bins = CandidateBins<Traits::kRandomKeys>;
  /// Thresholds that the rule has, for loops that the compiler unrolls.
  static constexpr int kThresholds = kRule == Rule::Gaussian  ? (1 << Traits::kEvaluations) - 1
                                     : kRule == Rule::Trimmed ? kTrimSteps
                                     : kRule == Rule::Dgc     ? 2
                                                              : 1;

 public:
  __device__ Finish(const Batch& batch, FinishShared& shared)
      : batch_(batch),
        shared_(shared),
        block_(static_cast<int>(blockIdx.x)),
        blocks_(static_cast<int>(gridDim.x)),
        notes_(batch.most_parts <= kSharedNotes
                   ? shared.notes
                   : batch.notes + static_cast<std::int64_t>(blockIdx.x) * batch.most_parts) {}

  __device__ void run() {
    if (Traits::kTakesMoments) {
      add_chunks();
      meet();
    }
    if (Traits::kTakesSample) search_samples();
    if (Traits::kCounts) {
      for_each_part([&](const Part& part) { count_candidates(part); });
      meet();
    }
    for_each_part([&](const Part& part) { settle(part); });
    if (Traits::kMayRank) {
      meet();
      for_each_part([&](const Part& part) { resolve(part); });
      if (is_unusual()) fall_back();
      tally_all(false);
      meet();
    } else {
      tally_all(false);
      meet();
      if (is_unusual()) {
        fall_back();
        tally_all(false);
        meet();
      }
    }
    if (Traits::kDrawsFromTop) {
      for_each_part([&](const Part& part) { place_ties(part); });
      draw();
      tally_all(true);
      meet();
    }
    for_each_part([&](const Part& part) { send(part); });
    clear_samples();
  }

 private:
  // ---- shares and meetings ----------------------------------------------------------------------

  template <class Body>
  __device__ void for_each_part(const Body& body) {
    const int end = batch_.shares[block_ + 1];
    int number = 0;
    for (int group = batch_.shares[block_]; group < end; ++number) {
      const int which = batch_.group_segment[group];
      const Segment& segment = batch_.segments[which];
      const int end_of_segment = segment.first_group + segment.groups;
      const Part part{which, number, group, end < end_of_segment ? end : end_of_segment};
      body(part);
      group = part.end_group;
    }
  }

  /// All blocks come before any goes on, and what they wrote is seen.
  __device__ void meet() {
    ++meetings_;
    block_barrier();
    if (threadIdx.x == 0) {
      memory_fence();
      add_atomic(batch_.meetings, 1);
      const std::uint32_t everybody = meetings_ * static_cast<std::uint32_t>(blocks_);
      while (read_now(batch_.meetings) < everybody) pause();
      memory_fence();
    }
    block_barrier();
  }

  __device__ const Segment& segment_of(const Part& part) const {
    return batch_.segments[part.which];
  }
  __device__ Notes& notes_of(const Part& part) { return notes_[part.number]; }
  __device__ SegmentFindings& findings_of(const Part& part) { return batch_.findings[part.which]; }
  __device__ Key floor_of(const Part& part) const { return batch_.first_threshold[part.which]; }
  __device__ std::uint32_t* candidate_bins_of(const Part& part) const {
    return batch_.candidate_bins + static_cast<std::int64_t>(part.which) * kCandidateBins;
  }
  __device__ std::uint32_t* low_bins_of(const Part& part) const {
    return batch_.low_bins + static_cast<std::int64_t>(part.which) * Bins::kLow;
  }
  __device__ static std::uint32_t* radix_bins_of(std::uint32_t* all, const Part& part, int level) {
    return all + (static_cast<std::int64_t>(part.which) * kRadixLevels + level) * kRadixBins;
  }

  __device__ bool is_unusual() const { return read_now(batch_.unusual) != 0; }

  /// Neither nothing nor everything is wanted: the rule decides.
  __device__ static bool is_ruled(const Segment& segment) {
    return kRule != Rule::Everything && segment.k > 0 && segment.k < segment.elements;
  }

  template <class Body>
  __device__ bool visit_part(const Part& part, bool reread, Body& body) {
    Visitor visitor(batch_, segment_of(part), reread);
    return visitor.visit(static_cast<std::int64_t>(part.first_group) * kGroupTiles,
                         (part.end_group - part.first_group) * kGroupTiles, body);
  }

  // ---- moments ----------------------------------------------------------------------------------

  __device__ void add_chunks() {
    for (int chunk = block_; chunk < batch_.chunks; chunk += blocks_) {
      const Segment& segment = batch_.segments[batch_.chunk_segment[chunk]];
      const std::int64_t tile =
          static_cast<std::int64_t>(chunk - segment.first_chunk) * kTreeWidth + threadIdx.x;
      Moments own;
      if (tile < tiles_of(segment))
        own =
            batch_
                .tile_moments[static_cast<std::int64_t>(segment.first_group) * kGroupTiles + tile];
      own = block_tree(own, shared_.scratch);
      if (threadIdx.x == 0) batch_.chunk_moments[chunk] = own;
    }
  }

  /// Of a whole segment: the chunks' sums, by 256 and once more by 256 (2^31 elements have 8192).
  __device__ Moments moments_of(const Segment& segment) {
    const int chunks = static_cast<int>((tiles_of(segment) + kTreeWidth - 1) / kTreeWidth);
    const int trees = (chunks + kTreeWidth - 1) / kTreeWidth;
    const int thread = static_cast<int>(threadIdx.x);
    for (int tree = 0; tree < trees; ++tree) {
      const int chunk = tree * kTreeWidth + thread;
      const Moments sum =
          block_tree(chunk < chunks ? batch_.chunk_moments[segment.first_chunk + chunk] : Moments{},
                     shared_.scratch);
      if (thread == 0) shared_.sums[tree] = sum;
    }
    block_barrier();
    const Moments own = thread < trees ? shared_.sums[thread] : Moments{};
    const Moments total = trees > 1 ? block_tree(own, shared_.scratch) : shared_.sums[0];
    block_barrier();
    return total;
  }

  // ---- DGC's sample -----------------------------------------------------------------------------

  __device__ void search_samples() {
    for_each_part([&](const Part& part) {
      if (threadIdx.x == 0)
        notes_of(part).radix = {0, static_cast<std::uint32_t>(segment_of(part).sample_rank)};
      block_barrier();
    });
    search(
        batch_.rule_bins, [&](const Part& part) { return is_ruled(segment_of(part)); },
        [&](const Part& part, const auto& f) {
          const Segment& segment = segment_of(part);
          const std::uint64_t seed = segment.seed + *batch_.round;
          const std::int64_t size = segment.sample.size();
          const auto share = [&](int group) {
            return size * (group - segment.first_group) / segment.groups;
          };
          const std::int64_t end = share(part.end_group);
          for (std::int64_t j = share(part.first_group) + threadIdx.x; j - lane_of_thread() < end;
               j += kBlockThreads) {
            const bool valid = j < end;
            f(valid ? magnitude_key(segment.residual[sample_index(segment.sample, seed, j)]) : 0,
              valid);
          }
        });
  }

  // ---- counts -----------------------------------------------------------------------------------

  __device__ void count_candidates(const Part& part) {
    const Segment& segment = segment_of(part);
    if (!is_ruled(segment)) return;
    Notes& notes = notes_of(part);
    Moments moments;
    if (Traits::kTakesMoments) moments = moments_of(segment);
    if (threadIdx.x == 0) {
      notes.thresholds = {};
      if (Traits::kTakesSample) {
        thresholds_of_sample<kMode>(notes.radix.prefix, notes.thresholds);
        notes.thresholds.least[1] = floor_of(part);  // to know how many were caught
      } else {
        thresholds_of<kRule, kMode>(moments, segment.elements, segment.quantile, notes.thresholds);
        if (moments.unfinite > 0) or_atomic(&findings_of(part).path, kNotFinite);
      }
    }
    block_barrier();
    count(part, false, findings_of(part).counts);
  }

  /// Adds to counts[i] how many of the part's candidates (or elements) reach threshold i.
  __device__ void count(const Part& part, bool reread, std::uint32_t* counts) {
    const Thresholds& thresholds = notes_of(part).thresholds;
    Key least[kThresholds];
    std::uint32_t own[kThresholds];
    GRADCAST_UNROLL
    for (int i = 0; i < kThresholds; ++i) {
      least[i] = thresholds.least[i];
      own[i] = 0;
    }
    const auto body = [&](const Visit& v) {
      GRADCAST_UNROLL
      for (int i = 0; i < kThresholds; ++i) own[i] += v.valid && v.key >= least[i] ? 1 : 0;
    };
    visit_part(part, reread, body);
    GRADCAST_UNROLL
    for (int i = 0; i < kThresholds; ++i) {
      for (int distance = kLanes / 2; distance > 0; distance /= 2)
        own[i] += from_lane_across(own[i], distance);
      if (lane_of_thread() == 0 && own[i] > 0) add_atomic(&counts[i], own[i]);
    }
  }

  // ---- threshold or rank ------------------------------------------------------------------------

  __device__ void settle(const Part& part) {
    const Segment& segment = segment_of(part);
    Notes own{};
    own.selected = segment.k == 0 ? select_nothing() : select_everything();
    own.rereads = segment.k != 0;
    std::uint32_t caught = 0;
    if (is_ruled(segment)) {
      Decision decision{Decision::Rank, 0};
      if (Traits::kCounts)
        decision = decide<kRule, kMode>(notes_of(part).thresholds, findings_of(part).counts,
                                        floor_of(part), segment.k);
      // Gaussian-k's most halved threshold, or Trimmed's mean, lies below what was caught; DGC has
      // the floor itself.
      if (Traits::kCounts) caught = findings_of(part).counts[lowest_threshold()];
      if (decision.kind == Decision::Rank) {
        caught = find_bin(part, own);
      } else if (decision.kind == Decision::Least) {
        own.selected = select_from(decision.least);
        own.rereads = decision.least < floor_of(part);
      } else {
        own.needs_counts = true;
      }
    }
    if (own.needs_counts) own.thresholds = notes_of(part).thresholds;
    block_barrier();  // everybody has read the notes
    if (threadIdx.x == 0) {
      notes_of(part) = own;
      if (part.first_group == segment.first_group)
        batch_.keep_threshold[part.which] = caught_well(segment, caught) ? 1 : 0;
      if (own.needs_counts || own.needs_radix) or_atomic(batch_.unusual, 1);
    }
    block_barrier();
    if (own.rank > 0 && !own.needs_radix) count_low_bits(part);
  }

  /// The threshold that lets most through.
  __device__ static int lowest_threshold() {
    return kRule == Rule::Gaussian ? (1 << (Traits::kEvaluations - 1)) - 1 : kThresholds - 1;
  }

  /// Enough for the next encode as well, should its gradient be like this one's, and not many more.
  __device__ static bool caught_well(const Segment& segment, std::uint32_t caught) {
    const double wanted =
        static_cast<double>(Traits::kDrawsFromTop ? segment.draw_from : segment.k);
    const double many =
        8 * wanted > 2 * segment.planned_catch ? 8 * wanted : 2 * segment.planned_catch;
    return caught >= wanted + 4 * sqrt(wanted) && caught <= many;
  }

  /// Of the candidates' histogram, the bin that holds the wanted rank. Gives how many were caught.
  __device__ std::uint32_t find_bin(const Part& part, Notes& own) {
    const Segment& segment = segment_of(part);
    const auto rank =
        static_cast<std::uint32_t>(Traits::kDrawsFromTop ? segment.draw_from : segment.k);
    own.rereads = false;
    own.rank = rank;
    const Crossing crossing =
        find_from_top<kCandidateBins>(candidate_bins_of(part), rank, shared_.scratch);
    if (crossing.bin == kNowhere && floor_of(part) <= 1) {
      // Every key above 0 is a candidate: the others are the first zeros.
      own.rank = 0;
      own.selected = {0, rank - crossing.above};
      own.rereads = true;
    } else if (crossing.bin == kNowhere || crossing.bin == kCandidateBins - 1) {
      own.needs_radix = true;
      own.radix = {0, rank};
    } else {
      own.bin = crossing.bin;
      own.above = crossing.above;
    }
    return crossing.total;
  }

  __device__ void count_low_bits(const Part& part) {
    const Key floor = floor_of(part);
    const std::uint32_t bin = notes_of(part).bin;
    std::uint32_t* low = low_bins_of(part);
    const auto body = [&](const Visit& v) {
      count_in(low, (v.key - floor) & (Bins::kLow - 1),
               v.valid && v.key >= floor && Bins::of(v.key, floor) == bin);
    };
    visit_part(part, false, body);
  }

  __device__ void resolve(const Part& part) {
    Notes& notes = notes_of(part);
    if (notes.rank == 0 || notes.needs_radix) return;  // the same for all threads of the block
    const std::uint32_t rank = notes.rank - notes.above;
    const Crossing crossing = find_from_top<Bins::kLow>(low_bins_of(part), rank, shared_.scratch);
    if (threadIdx.x == 0)
      notes.selected = {floor_of(part) + (notes.bin << Bins::kShift) + crossing.bin,
                        rank - crossing.above};
    block_barrier();
  }

  // ---- where the candidates do not tell ---------------------------------------------------------

  __device__ void fall_back() {
    for_each_part([&](const Part& part) {
      if (part.first_group == segment_of(part).first_group) {
        std::uint32_t* bins = radix_bins_of(batch_.fallback_bins, part, 0);
        for (int i = static_cast<int>(threadIdx.x); i < kRadixLevels * kRadixBins;
             i += kBlockThreads)
          bins[i] = 0;
      }
      if (notes_of(part).needs_counts) count(part, true, findings_of(part).exact_counts);
    });
    meet();
    if (Traits::kCounts) for_each_part([&](const Part& part) { settle_exactly(part); });
    search(
        batch_.fallback_bins, [&](const Part& part) { return notes_of(part).needs_radix; },
        [&](const Part& part, const auto& f) {
          const auto body = [&](const Visit& v) { f(v.key, v.valid); };
          visit_part(part, true, body);
        });
    for_each_part([&](const Part& part) {
      Notes& notes = notes_of(part);
      if (threadIdx.x == 0 && notes.needs_radix) {
        notes.selected = {notes.radix.prefix, notes.radix.rank};
        notes.rereads = notes.selected.key < floor_of(part);
        or_atomic(&findings_of(part).path, kGeneric);
      }
      block_barrier();
    });
  }

  __device__ void settle_exactly(const Part& part) {
    Notes& notes = notes_of(part);
    if (threadIdx.x == 0 && notes.needs_counts) {
      const Segment& segment = segment_of(part);
      const Decision decision =
          decide<kRule, kMode>(notes.thresholds, findings_of(part).exact_counts, 0, segment.k);
      notes.needs_counts = false;
      notes.selected = select_from(decision.least);
      notes.rereads = decision.least < floor_of(part);
      if (decision.kind == Decision::Rank) {
        notes.needs_radix = true;
        notes.radix = {0, static_cast<std::uint32_t>(segment.k)};
      }
    }
    block_barrier();
  }

  /// A radix select over the keys that for_each(part, f) gives to f(key, valid), of the parts that
  /// take part; it starts from the notes' `radix` and ends there. All blocks call it.
  template <class TakesPart, class ForEach>
  __device__ void search(std::uint32_t* all, const TakesPart& takes_part, const ForEach& for_each) {
    for (int level = 0; level < kRadixLevels; ++level) {
      const int bits = level < 2 ? 12 : 8;
      const int shift = level == 0 ? 20 : level == 1 ? 8 : 0;
      for_each_part([&](const Part& part) {
        if (!takes_part(part)) return;
        const RadixSearch search = notes_of(part).radix;
        for (int i = static_cast<int>(threadIdx.x); i < kRadixBins; i += kBlockThreads)
          shared_.bins[i] = 0;
        block_barrier();
        for_each(part, [&](Key key, bool valid) {
          count_in(shared_.bins, key >> shift & ((1u << bits) - 1),
                   valid && is_under(key, search, shift, bits));
        });
        block_barrier();
        std::uint32_t* bins = radix_bins_of(all, part, level);
        for (int i = static_cast<int>(threadIdx.x); i < kRadixBins; i += kBlockThreads)
          if (shared_.bins[i] != 0) add_atomic(&bins[i], shared_.bins[i]);
        block_barrier();
      });
      meet();
      for_each_part([&](const Part& part) {
        if (!takes_part(part)) return;
        const RadixSearch search = notes_of(part).radix;
        const Crossing crossing = find_from_top<kRadixBins>(radix_bins_of(all, part, level),
                                                            search.rank, shared_.scratch);
        if (threadIdx.x == 0)
          notes_of(part).radix = {search.prefix << bits | crossing.bin,
                                  search.rank - crossing.above};
        block_barrier();
      });
    }
  }

  // ---- what each tile sends ---------------------------------------------------------------------

  /// For each visited element, whether the selection takes it. Its ties are told apart by those in
  /// the tiles before, `ties_before[v.tile]`, and by those seen in rows before.
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

  /// What rTop-k draws of what Top-r takes.
  __device__ bool is_drawn(const Part& part, const Visit& v) {
    const Segment& segment = segment_of(part);
    return !is_ruled(segment) ||
           random_key(segment.seed + *batch_.round, v.index) >= notes_of(part).radix.prefix;
  }

  __device__ const std::uint32_t* tile_ties_of(const Part& part) const {
    return batch_.tile_ties + static_cast<std::int64_t>(part.first_group) * kGroupTiles;
  }

  __device__ void tally_all(bool drawn) {
    if (threadIdx.x == 0) batch_.block_totals[block_] = {0, 0};
    for_each_part([&](const Part& part) {
      if (drawn) {
        tally_drawn(part);
      } else {
        tally(part);
      }
    });
  }

  /// Counts keys above the selection's and equal to it, tile by tile.
  __device__ void tally(const Part& part) {
    const Notes& notes = notes_of(part);
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
    const bool overflowed = visit_part(part, notes.rereads, body);
    if (overflowed && lane_of_thread() == 0)
      or_atomic(&findings_of(part).path, notes.rereads ? kFullReread : kTilesReread);
    keep_total(total);
  }

  __device__ void tally_drawn(const Part& part) {
    const Notes& notes = notes_of(part);
    std::uint32_t* tiles =
        batch_.tile_selected + static_cast<std::int64_t>(part.first_group) * kGroupTiles;
    Taking taking(notes.selected, tile_ties_of(part));
    std::uint32_t in_rows = 0;
    BlockTotal total{0, 0};
    const auto body = [&](const Visit& v) {
      const bool taken = taking.takes(v) && is_drawn(part, v);
      const std::uint32_t all = ballot(taken);
      total.above += count_bits(all);
      if (v.first) in_rows = 0;
      in_rows += count_bits(all & v.peers);
      if (v.in_range && v.last && v.leader) tiles[v.tile] = in_rows;
    };
    visit_part(part, notes.rereads, body);
    keep_total(total);
  }

  /// `total` is the same in all lanes of a warp. Of the block's parts the last one's stays.
  __device__ void keep_total(const BlockTotal& total) {
    const bool counts = lane_of_thread() == 0;
    const std::uint32_t above = block_scan(counts ? total.above : 0, shared_.scratch).total;
    const std::uint32_t ties = block_scan(counts ? total.ties : 0, shared_.scratch).total;
    if (threadIdx.x == 0) batch_.block_totals[block_] = {above, ties};
    block_barrier();
  }

  /// What the blocks before have of this part's segment. Each has it as its last part.
  __device__ BlockTotal total_before(const Part& part) {
    const Segment& segment = segment_of(part);
    if (part.first_group == segment.first_group) return {0, 0};
    BlockTotal own{0, 0};
    for (int block = segment.first_block + static_cast<int>(threadIdx.x); block < block_;
         block += kBlockThreads) {
      own.above += batch_.block_totals[block].above;
      own.ties += batch_.block_totals[block].ties;
    }
    return {block_scan(own.above, shared_.scratch).total,
            block_scan(own.ties, shared_.scratch).total};
  }

  /// Walks a part in runs of 256 tiles: body(first tile of the run, tiles) with the shared memory's
  /// `ties` and `offset` filled in for them. Gives what is sent of the segment up to the part's
  /// end.
  template <class Body>
  __device__ std::uint32_t for_each_run(const Part& part, const Body& body) {
    const std::uint32_t quota = notes_of(part).selected.ties;
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

  // ---- rTop-k's draw ----------------------------------------------------------------------------

  __device__ void place_ties(const Part& part) {
    // Runs without ties are passed over: nobody asks for theirs.
    for_each_run(part, [&](std::int64_t tile, int count) {
      if (static_cast<int>(threadIdx.x) < count)
        batch_.tile_ties[tile + threadIdx.x] = shared_.ties[threadIdx.x];
    });
    block_barrier();
    if (threadIdx.x == 0)
      notes_of(part).radix = {0, static_cast<std::uint32_t>(segment_of(part).k)};
    block_barrier();
  }

  __device__ void draw() {
    search(
        batch_.rule_bins, [&](const Part& part) { return is_ruled(segment_of(part)); },
        [&](const Part& part, const auto& f) {
          const std::uint64_t seed = segment_of(part).seed + *batch_.round;
          Taking taking(notes_of(part).selected, tile_ties_of(part));
          const auto body = [&](const Visit& v) {
            const bool taken = taking.takes(v);
            f(random_key(seed, v.index), taken);
          };
          visit_part(part, notes_of(part).rereads, body);
        });
  }

  // ---- the answer -------------------------------------------------------------------------------

  __device__ void send(const Part& part) {
    const Segment& segment = segment_of(part);
    const Notes& notes = notes_of(part);
    const Selected selected = notes.selected;
    const std::uint32_t below = (1u << lane_of_thread()) - 1;
    const bool draws = Traits::kDrawsFromTop;
    // After a draw the tiles' counts hold no ties any more: none is to be told apart here.
    const std::uint32_t sent = for_each_run(part, [&](std::int64_t tile, int count) {
      const std::int64_t in_part = tile - static_cast<std::int64_t>(part.first_group) * kGroupTiles;
      Taking taking(selected, draws ? tile_ties_of(part) + in_part : shared_.ties);
      std::uint32_t in_rows = 0;
      const auto body = [&](const Visit& v) {
        bool taken = taking.takes(v);
        if (draws) taken = taken && is_drawn(part, v);
        const std::uint32_t all = ballot(taken) & v.peers;
        if (v.first) in_rows = 0;
        if (taken) {
          const std::int64_t at =
              static_cast<std::int64_t>(shared_.offset[v.tile]) + in_rows + count_bits(all & below);
          if (at < segment.capacity) {
            segment.values[at] = float_of(v.bits);
            segment.indices[at] = static_cast<std::int32_t>(v.index);
            segment.residual[v.index] = 0.0f;
          }
        }
        in_rows += count_bits(all);
      };
      Visitor(batch_, segment, notes.rereads).visit(tile, count, body);
    });
    if (part.end_group == segment.first_group + segment.groups && threadIdx.x == 0) {
      const bool fits = sent <= segment.capacity;
      *segment.count = fits ? sent : segment.capacity;
      *segment.status = read_now(&findings_of(part).path) | (fits ? 0u : kTruncated);
    }
  }

  __device__ void clear_samples() {
    for (int which = block_; which < batch_.large; which += blocks_) {
      if (batch_.segments[which].sample_blocks <= 1) continue;
      std::uint32_t* bins = batch_.sample_bins + static_cast<std::int64_t>(which) * kSampleBins;
      for (int i = static_cast<int>(threadIdx.x); i < kSampleBins; i += kBlockThreads) bins[i] = 0;
      if (threadIdx.x == 0) batch_.sample_done[which] = 0;
    }
  }

  const Batch& batch_;
  FinishShared& shared_;
  int block_;
  int blocks_;
  Notes* notes_;
  std::uint32_t meetings_ = 0;
};

template <Rule kRule, Mode kMode>
__global__ void __launch_bounds__(kBlockThreads, 2) finish(const Batch batch) {
  Finish<kRule, kMode>(batch, shared_memory<FinishShared>()).run();
}

}  // namespace gradcast::GRADCAST_DEVICE
