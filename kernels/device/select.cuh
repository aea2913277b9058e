// Finds the selection of each segment from its candidates: all keys above a key, and some of its
// equals.
#pragma once
#include "kernels/device/moment_sums.cuh"
#include "kernels/device/search.cuh"

namespace gradcast::GRADCAST_DEVICE {

template <Rule kRule, Mode kMode>
class Selecting {
  using Traits = RuleTraits<kRule, kMode>;
  using Bins = CandidateBins<Traits::kRandomKeys>;
  /// Thresholds that the rule has, for loops that the compiler unrolls.
  static constexpr int kThresholds = kRule == Rule::Gaussian  ? (1 << Traits::kEvaluations) - 1
                                     : kRule == Rule::Trimmed ? kTrimSteps
                                     : kRule == Rule::Dgc     ? 2
                                                              : 1;

 public:
  explicit __device__ Selecting(Share<kRule, kMode>& share)
      : share_(share), batch_(share.batch()), shared_(share.shared()) {}

  /// DGC: the key of the wanted rank in its sample.
  __device__ void search_samples() {
    share_.for_each_part([&](const Part& part) {
      if (threadIdx.x == 0)
        share_.notes_of(part).radix = {
            0, static_cast<std::uint32_t>(share_.segment_of(part).sample_rank)};
      block_barrier();
    });
    search(
        share_, batch_.rule_bins,
        [&](const Part& part) { return share_.is_ruled(share_.segment_of(part)); },
        [&](const Part& part, const auto& f) {
          const Segment& segment = share_.segment_of(part);
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

  /// Counts the candidates that pass each threshold that may be needed.
  __device__ void count_candidates(const Part& part) {
    const Segment& segment = share_.segment_of(part);
    if (!share_.is_ruled(segment)) return;
    Notes& notes = share_.notes_of(part);
    Moments moments;
    if (Traits::kTakesMoments) moments = moments_of(share_, segment);
    if (threadIdx.x == 0) {
      notes.thresholds = {};
      if (Traits::kTakesSample) {
        thresholds_of_sample<kMode>(notes.radix.prefix, notes.thresholds);
        notes.thresholds.least[1] = share_.floor_of(part);  // to know how many were caught
      } else {
        thresholds_of<kRule, kMode>(moments, segment.elements, segment.quantile, notes.thresholds);
        if (moments.unfinite > 0) or_atomic(&share_.findings_of(part).path, kNotFinite);
      }
    }
    block_barrier();
    count(part, false, share_.findings_of(part).counts);
  }

  /// Threshold or rank; for a rank, the bin of the candidates' histogram that holds it.
  __device__ void settle(const Part& part) {
    const Segment& segment = share_.segment_of(part);
    Notes own{};
    own.selected = segment.k == 0 ? select_nothing() : select_everything();
    own.rereads = segment.k != 0;
    std::uint32_t caught = 0;
    if (share_.is_ruled(segment)) {
      Decision decision{Decision::Rank, 0};
      if (Traits::kCounts)
        decision =
            decide<kRule, kMode>(share_.notes_of(part).thresholds, share_.findings_of(part).counts,
                                 share_.floor_of(part), segment.k);
      // Gaussian-k's most halved threshold, or Trimmed's mean, lies below what was caught; DGC has
      // the floor itself.
      if (Traits::kCounts) caught = share_.findings_of(part).counts[lowest_threshold()];
      if (decision.kind == Decision::Rank) {
        caught = find_bin(part, own);
      } else if (decision.kind == Decision::Least) {
        own.selected = select_from(decision.least);
        own.rereads = decision.least < share_.floor_of(part);
      } else {
        own.needs_counts = true;
      }
    }
    if (own.needs_counts) own.thresholds = share_.notes_of(part).thresholds;
    block_barrier();  // everybody has read the notes
    if (threadIdx.x == 0) {
      share_.notes_of(part) = own;
      if (part.first_group == segment.first_group)
        batch_.keep_threshold[part.which] = caught_well(segment, caught) ? 1 : 0;
      if (own.needs_counts || own.needs_radix) or_atomic(batch_.unusual, 1);
    }
    block_barrier();
    if (own.rank > 0 && !own.needs_radix) count_low_bits(part);
  }

  /// The key in that bin, and how many of its equals.
  __device__ void resolve(const Part& part) {
    Notes& notes = share_.notes_of(part);
    if (notes.rank == 0 || notes.needs_radix) return;  // the same for all threads of the block
    const std::uint32_t rank = notes.rank - notes.above;
    const Crossing crossing = find_from_top<Bins::kLow>(low_bins_of(part), rank, shared_.scratch);
    if (threadIdx.x == 0)
      notes.selected = {share_.floor_of(part) + (notes.bin << Bins::kShift) + crossing.bin,
                        rank - crossing.above};
    block_barrier();
  }

  /// For the unusual case in which candidates are not enough: counts in u, and a radix select over
  /// u.
  __device__ void fall_back() {
    share_.for_each_part([&](const Part& part) {
      if (part.first_group == share_.segment_of(part).first_group) {
        std::uint32_t* bins = radix_bins_of(batch_.fallback_bins, part, 0);
        for (int i = static_cast<int>(threadIdx.x); i < kRadixLevels * kRadixBins;
             i += kBlockThreads)
          bins[i] = 0;
      }
      if (share_.notes_of(part).needs_counts)
        count(part, true, share_.findings_of(part).exact_counts);
    });
    share_.meet();
    if (Traits::kCounts) share_.for_each_part([&](const Part& part) { settle_exactly(part); });
    search(
        share_, batch_.fallback_bins,
        [&](const Part& part) { return share_.notes_of(part).needs_radix; },
        [&](const Part& part, const auto& f) {
          const auto body = [&](const Visit& v) { f(v.key, v.valid); };
          share_.visit_part(part, true, body);
        });
    share_.for_each_part([&](const Part& part) {
      Notes& notes = share_.notes_of(part);
      if (threadIdx.x == 0 && notes.needs_radix) {
        notes.selected = {notes.radix.prefix, notes.radix.rank};
        notes.rereads = notes.selected.key < share_.floor_of(part);
        or_atomic(&share_.findings_of(part).path, kGeneric);
      }
      block_barrier();
    });
  }

 private:
  /// Adds to counts[i] how many of the part's candidates (or elements) reach threshold i.
  __device__ void count(const Part& part, bool reread, std::uint32_t* counts) {
    const Thresholds& thresholds = share_.notes_of(part).thresholds;
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
    share_.visit_part(part, reread, body);
    GRADCAST_UNROLL
    for (int i = 0; i < kThresholds; ++i) {
      for (int distance = kLanes / 2; distance > 0; distance /= 2)
        own[i] += from_lane_across(own[i], distance);
      if (lane_of_thread() == 0 && own[i] > 0) add_atomic(&counts[i], own[i]);
    }
  }

  /// The threshold that lets most through.
  __device__ static int lowest_threshold() {
    return kRule == Rule::Gaussian ? (1 << (Traits::kEvaluations - 1)) - 1 : kThresholds - 1;
  }

  /// True if the threshold let enough through for the next encode as well, if its gradient is like
  /// this one's, and not many more.
  __device__ static bool caught_well(const Segment& segment, std::uint32_t caught) {
    const double wanted =
        static_cast<double>(Traits::kDrawsFromTop ? segment.draw_from : segment.k);
    const double many =
        8 * wanted > 2 * segment.planned_catch ? 8 * wanted : 2 * segment.planned_catch;
    return caught >= wanted + 4 * sqrt(wanted) && caught <= many;
  }

  /// Finds the bin of the wanted rank in the candidates' histogram. Returns how many candidates
  /// there are.
  __device__ std::uint32_t find_bin(const Part& part, Notes& own) {
    const Segment& segment = share_.segment_of(part);
    const auto rank =
        static_cast<std::uint32_t>(Traits::kDrawsFromTop ? segment.draw_from : segment.k);
    own.rereads = false;
    own.rank = rank;
    const Crossing crossing =
        find_from_top<kCandidateBins>(candidate_bins_of(part), rank, shared_.scratch);
    if (crossing.bin == kNowhere && share_.floor_of(part) <= 1) {
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
    const Key floor = share_.floor_of(part);
    const std::uint32_t bin = share_.notes_of(part).bin;
    std::uint32_t* low = low_bins_of(part);
    const auto body = [&](const Visit& v) {
      count_in(low, (v.key - floor) & (Bins::kLow - 1),
               v.valid && v.key >= floor && Bins::of(v.key, floor) == bin);
    };
    share_.visit_part(part, false, body);
  }

  __device__ void settle_exactly(const Part& part) {
    Notes& notes = share_.notes_of(part);
    if (threadIdx.x == 0 && notes.needs_counts) {
      const Segment& segment = share_.segment_of(part);
      const Decision decision = decide<kRule, kMode>(
          notes.thresholds, share_.findings_of(part).exact_counts, 0, segment.k);
      notes.needs_counts = false;
      notes.selected = select_from(decision.least);
      notes.rereads = decision.least < share_.floor_of(part);
      if (decision.kind == Decision::Rank) {
        notes.needs_radix = true;
        notes.radix = {0, static_cast<std::uint32_t>(segment.k)};
      }
    }
    block_barrier();
  }

  __device__ std::uint32_t* candidate_bins_of(const Part& part) const {
    return batch_.candidate_bins + static_cast<std::int64_t>(part.which) * kCandidateBins;
  }
  __device__ std::uint32_t* low_bins_of(const Part& part) const {
    return batch_.low_bins + static_cast<std::int64_t>(part.which) * Bins::kLow;
  }

  Share<kRule, kMode>& share_;
  const Batch& batch_;
  FinishShared& shared_;
};

}  // namespace gradcast::GRADCAST_DEVICE
