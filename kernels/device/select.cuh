// Finds the selection of each segment from its candidates: all keys above a key, and some of its
// equals.
#pragma once
#include "kernels/device/moment_sums.cuh"
#include "kernels/device/search.cuh"
#include "kernels/device/tally.cuh"

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

  /// With so few listed candidates, comparing each with all is quicker than a radix select.
  static constexpr int kFewListed = 128;

 public:
  __device__ Selecting(Share<kRule, kMode>& share, Tally<kRule, kMode>& tally)
      : share_(share), tally_(tally), batch_(share.batch()), shared_(share.shared()) {}

  /// DGC: the key of the wanted rank in its sample.
  __device__ void search_samples() {
    share_.for_each_part([&](const Part& part) {
      if (threadIdx.x == 0)
        share_.notes_of(part).radix = {
            0, static_cast<std::uint32_t>(share_.segment_of(part).sample_rank), 0};
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
      }
    }
    block_barrier();
    count(part, false, share_.findings_of(part).counts);
  }

  /// Threshold or rank; for a rank, the bin of the candidates' histogram that holds it.
  __device__ void settle(const Part& part) {
    const Segment& segment = share_.segment_of(part);
    Notes own{};
    own.cut = segment.k == 0 ? cut_nothing() : cut_from(0);
    own.rereads = segment.k != 0;
    std::uint32_t caught = 0;
    if (Traits::kGivenCut) {
      own.cut = cut_from(segment.least);
      own.rereads = segment.least < share_.floor_of(part);
    } else if (share_.is_ruled(segment)) {
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
        own.cut = cut_from(decision.least);
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
        batch_.keep_threshold[part.which] =
            !batch_.sample_always && caught_well(segment, caught) ? 1 : 0;
      if (own.falls_back()) or_atomic(batch_.unusual, 1);
    }
    block_barrier();
  }

  /// Finds the cut among the listed candidates of its bin, and leaves them in shared memory.
  /// Returns how many they are: 0 where the cut was known.
  __device__ int find_in_list(const Part& part) {
    Notes& notes = share_.notes_of(part);
    if (!Traits::kMayRank || notes.list_rank == 0) return 0;  // the same for all threads
    const std::uint64_t seed = share_.segment_of(part).seed + *batch_.round;
    const int count = static_cast<int>(notes.listed);
    const Candidate* listed = batch_.listed + static_cast<std::int64_t>(part.which) * kListed;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kBlockThreads)
      shared_.list[i] = listed[i];
    block_barrier();
    const auto key = [&](int i) {
      const Candidate& own = shared_.list[i];
      return key_of<Traits::kRandomKeys>(float_of(own.bits), seed, own.index);
    };
    if (count <= kFewListed) {
      // Each thread finds the place of its entry among all.
      const int own = static_cast<int>(threadIdx.x);
      if (own < count) {
        const Key own_key = key(own);
        const std::uint32_t own_index = shared_.list[own].index;
        std::uint32_t before = 0;
        GRADCAST_UNROLL_BY_4
        for (int i = 0; i < count; ++i)
          before += is_above({own_key, own_index}, key(i), shared_.list[i].index) ? 1 : 0;
        if (before + 1 == notes.list_rank) notes.cut = {own_key, own_index + 1};
      }
      block_barrier();
      return count;
    }
    const auto for_each = [&](const auto& f) {
      for (int i = static_cast<int>(threadIdx.x); i - lane_of_thread() < count; i += kBlockThreads)
        f(i < count ? i : 0, i < count);
    };
    const Key from = notes.listed_from;
    const RadixSearch found = block_radix_select<Bins::kBits>(
        notes.list_rank, shared_.few_bins, shared_.scratch,
        [&](const auto& f) { for_each([&](int i, bool valid) { f(key(i) - from, valid); }); });
    const Key last = from + found.prefix;
    std::uint32_t end = kNoEnd;
    // Several equals are sent from the lowest index on.
    if (found.equals > found.rank)
      end = ~block_radix_select(found.rank, shared_.few_bins, shared_.scratch,
                                [&](const auto& f) {
                                  for_each([&](int i, bool valid) {
                                    f(~shared_.list[i].index, valid && key(i) == last);
                                  });
                                })
                 .prefix +
            1;
    if (threadIdx.x == 0) notes.cut = {last, end};
    block_barrier();
    return count;
  }

  /// For the unusual case in which histogram and list are not enough: counts in u, a radix select
  /// over the candidates or u, and a search for the last of many equals.
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
    if (Traits::kMayRank) search_everything();
  }

 private:
  /// The cut of the parts that need it, by a radix select and a search for the last of many equals.
  __device__ void search_everything() {
    search(
        share_, batch_.fallback_bins,
        [&](const Part& part) { return share_.notes_of(part).needs_radix; },
        [&](const Part& part, const auto& f) {
          const auto body = [&](const Visit& v) { f(v.key, v.valid); };
          share_.visit_part(part, share_.notes_of(part).rereads, body);
        });
    share_.for_each_part([&](const Part& part) {
      Notes& notes = share_.notes_of(part);
      if (threadIdx.x == 0 && notes.needs_radix) {
        const RadixSearch& found = notes.radix;
        notes.cut = {found.prefix, kNoEnd};
        notes.needs_ties = found.equals > found.rank;
        notes.ties = found.rank;
        if (notes.rereads) or_atomic(&share_.findings_of(part).path, kGeneric);
        notes.rereads = found.prefix < share_.floor_of(part);
      }
      block_barrier();
      if (notes.needs_ties) tally_.count_ties(part);
    });
    share_.meet();
    share_.for_each_part([&](const Part& part) { find_last_tie(part); });
    share_.meet();
    share_.for_each_part([&](const Part& part) {
      Notes& notes = share_.notes_of(part);
      if (threadIdx.x == 0 && notes.needs_ties)
        notes.cut.end = share_.findings_of(part).last_tie + 1;
      block_barrier();
    });
  }

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
    const Key floor = share_.floor_of(part);
    const auto rank =
        static_cast<std::uint32_t>(Traits::kDrawsFromTop ? segment.draw_from : segment.k);
    const Crossing crossing =
        find_from_top<kCandidateBins>(candidate_bins_of(part), rank, shared_.scratch);
    own.rereads = crossing.bin == kNowhere;
    if (own.rereads && floor <= 1) {
      // Every key above 0 is a candidate: the others are the first zeros.
      own.cut = {0, kNoEnd};
      own.ties = rank - crossing.above;
      own.needs_ties = true;
    } else if (own.rereads || crossing.bin == kCandidateBins - 1 || crossing.held > kListed) {
      own.needs_radix = true;
      own.radix = {0, rank, 0};
    } else {
      const Bins bins(floor);
      own.listed_from = bins.from(crossing.bin);
      own.cut = {bins.from(crossing.bin + 1) - 1, 0};
      own.list_rank = rank - crossing.above;
      own.listed = crossing.held;
    }
    return crossing.total;
  }

  /// The index of the last of a part's equals that is sent, for the part that has it.
  __device__ void find_last_tie(const Part& part) {
    const Notes& notes = share_.notes_of(part);
    if (!notes.needs_ties) return;  // the same for all threads
    const std::uint32_t before = share_.before(part, batch_.block_ties, 0);
    const Key key = notes.cut.key;
    tally_.for_each_run(part, before, 0, [&](std::int64_t tile, int count) {
      Placing placing{shared_.offset};
      const auto body = [&](const Visit& v) {
        const bool tie = v.valid && v.key == key;
        const std::uint32_t number = placing.place(v, tie);
        if (tie && number + 1 == notes.ties) share_.findings_of(part).last_tie = v.index;
      };
      TileVisitor<Traits::kRandomKeys>(batch_, share_.segment_of(part), notes.rereads)
          .visit(tile, count, body);
    });
  }

  __device__ void settle_exactly(const Part& part) {
    Notes& notes = share_.notes_of(part);
    if (threadIdx.x == 0 && notes.needs_counts) {
      const Segment& segment = share_.segment_of(part);
      const Decision decision = decide<kRule, kMode>(
          notes.thresholds, share_.findings_of(part).exact_counts, 0, segment.k);
      notes.cut = cut_from(decision.least);
      notes.rereads = decision.least < share_.floor_of(part);
      if (decision.kind == Decision::Rank) {
        notes.needs_radix = notes.rereads = true;
        notes.radix = {0, static_cast<std::uint32_t>(segment.k), 0};
      }
    }
    block_barrier();
  }

  __device__ std::uint32_t* candidate_bins_of(const Part& part) const {
    return batch_.candidate_bins + static_cast<std::int64_t>(part.which) * kCandidateBins;
  }

  Share<kRule, kMode>& share_;
  Tally<kRule, kMode>& tally_;
  const Batch& batch_;
  FinishShared& shared_;
};

}  // namespace gradcast::GRADCAST_DEVICE
