// A small tensor: one block reads it into shared memory, decides, and writes it back.
#pragma once
#include "kernels/device/batch.cuh"
#include "kernels/device/moments.cuh"
#include "kernels/device/radix.cuh"

namespace gradcast::GRADCAST_DEVICE {

struct SmallShared {
  float u[kSmallElements + kSmallElements / kLanes];  // padded: see at()
  std::uint32_t bins[256];
  std::uint32_t status;
  std::uint32_t counts[Thresholds::kMost];
  Thresholds thresholds;
  Moments tiles[kGroupMomentTiles];
  BlockScratch scratch;

  /// One word of padding in 33, so that threads that walk runs of 32 meet in no bank.
  __device__ float& at(int index) { return u[index + index / kLanes]; }
};

template <Rule kRule, Mode kMode>
class SmallTensor {
  using Traits = RuleTraits<kRule, kMode>;

 public:
  __device__ SmallTensor(const Segment& segment, std::uint64_t round, SmallShared& shared)
      : segment_(segment), shared_(shared), seed_(segment.seed + round) {
    elements_ = static_cast<int>(segment.elements);
    run_ = (elements_ + kBlockThreads - 1) / kBlockThreads;
    first_ = static_cast<int>(threadIdx.x) * run_;
  }

  __device__ void encode() {
    as_typed(segment_.gradient, [&](const auto& gradient) { form_u(gradient); });
    note_unfinite();
    send(choose());
  }

 private:
  template <class Gradient>
  __device__ void form_u(const Gradient& gradient) {
    constexpr int kAtOnce = 8;  // loads of each array in flight before the first is used
    const float* residual = segment_.residual;
    if (threadIdx.x == 0) shared_.status = 0;
    for (int at = static_cast<int>(threadIdx.x); at < elements_; at += kAtOnce * kBlockThreads) {
      float g[kAtOnce];
      float e[kAtOnce];
      GRADCAST_UNROLL
      for (int n = 0; n < kAtOnce; ++n) {
        const int i = at + n * kBlockThreads;
        g[n] = i < elements_ ? gradient[i] : 0.0f;
        e[n] = i < elements_ ? residual[i] : 0.0f;
      }
      GRADCAST_UNROLL
      for (int n = 0; n < kAtOnce; ++n)
        if (at + n * kBlockThreads < elements_)
          shared_.at(at + n * kBlockThreads) = add_feedback(g[n], e[n]);
    }
    block_barrier();
  }

  /// Notes in `status` whether there is an infinity or a NaN. In the loop above that would take
  /// more registers than there are.
  __device__ void note_unfinite() {
    GRADCAST_NO_UNROLL
    for (int i = static_cast<int>(threadIdx.x); i < elements_; i += kBlockThreads)
      if (!is_finite(shared_.at(i))) or_atomic(&shared_.status, kNotFinite);
  }

  /// The bits of this thread's run that are selected.
  __device__ std::uint32_t choose() {
    if (Traits::kGivenCut) return bits_of_run(select_from(segment_.least));
    if (segment_.k == 0) return 0;
    if (segment_.k == segment_.elements || kRule == Rule::Everything)
      return bits_of_run(select_everything());
    if (Traits::kCounts) {
      const Decision decision = decision_from_counts();
      if (decision.kind == Decision::Least) return bits_of_run(select_from(decision.least));
    }
    const std::int64_t rank = Traits::kDrawsFromTop ? segment_.draw_from : segment_.k;
    const std::uint32_t top = bits_of_run(select_rank<Traits::kRandomKeys>(rank, kEveryLane));
    if (!Traits::kDrawsFromTop) return top;
    const Selected drawn = select_rank<true>(segment_.k, top);
    std::uint32_t bits = 0;
    for (int j = 0; j < run_; ++j)
      if ((top >> j & 1u) != 0 &&
          random_key(seed_, static_cast<std::uint32_t>(first_ + j)) >= drawn.key)
        bits |= 1u << j;
    return bits;
  }

  template <bool kRandom>
  __device__ Key key(int index) const {
    return key_of<kRandom>(shared_.at(index), seed_, index);
  }

  /// Selects the `rank` largest of the elements whose bit is set in their thread's `among`.
  template <bool kRandom>
  __device__ Selected select_rank(std::int64_t rank, std::uint32_t among) {
    const RadixSearch found = block_radix_select(
        static_cast<std::uint32_t>(rank), shared_.bins, shared_.scratch, [&](const auto& f) {
          for (int j = 0; j < run_; ++j) {
            const bool valid = first_ + j < elements_ && (among >> j & 1u) != 0;
            f(valid ? key<kRandom>(first_ + j) : 0, valid);
          }
        });
    return {found.prefix, found.rank};
  }

  /// The bits of this thread's run that a selection by the compressor's keys takes.
  __device__ std::uint32_t bits_of_run(const Selected& selected) {
    std::uint32_t bits = 0;
    std::uint32_t ties = 0;
    for (int j = 0; j < run_ && first_ + j < elements_; ++j) {
      const Key own = key<Traits::kRandomKeys>(first_ + j);
      if (own > selected.key) bits |= 1u << j;
      if (own == selected.key) ties |= 1u << j;
    }
    const auto before =
        block_scan(static_cast<std::uint32_t>(count_bits(ties)), shared_.scratch).before;
    std::uint32_t left = before < selected.ties ? selected.ties - before : 0;
    for (; ties != 0 && left > 0; --left) {
      const std::uint32_t lowest = ties & (~ties + 1);
      bits |= lowest;
      ties ^= lowest;
    }
    return bits;
  }

  __device__ Decision decision_from_counts() {
    if (Traits::kTakesSample) {
      const Key of_rank = key_in_sample();
      if (threadIdx.x == 0) thresholds_of_sample<kMode>(of_rank, shared_.thresholds);
    } else {
      const Moments moments = take_moments();
      if (threadIdx.x == 0)
        thresholds_of<kRule, kMode>(moments, segment_.elements, segment_.quantile,
                                    shared_.thresholds);
    }
    if (threadIdx.x < Thresholds::kMost) shared_.counts[threadIdx.x] = 0;
    block_barrier();
    for (int i = 0; i < shared_.thresholds.count; ++i) {
      std::uint32_t own = 0;
      for (int j = 0; j < run_ && first_ + j < elements_; ++j)
        own += key<false>(first_ + j) >= shared_.thresholds.least[i] ? 1 : 0;
      for (int distance = kLanes / 2; distance > 0; distance /= 2)
        own += from_lane_across(own, distance);
      if (lane_of_thread() == 0) add_atomic(&shared_.counts[i], own);
    }
    block_barrier();
    return decide<kRule, kMode>(shared_.thresholds, shared_.counts, 0, segment_.k);
  }

  __device__ Key key_in_sample() {
    const Sample sample = segment_.sample;
    const int size = static_cast<int>(sample.size());
    const int rounds = (size + kBlockThreads - 1) / kBlockThreads;
    return block_radix_select(
               static_cast<std::uint32_t>(segment_.sample_rank), shared_.bins, shared_.scratch,
               [&](const auto& f) {
                 for (int r = 0; r < rounds; ++r) {
                   const int j = r * kBlockThreads + static_cast<int>(threadIdx.x);
                   const bool valid = j < size;
                   f(valid ? key<false>(static_cast<int>(sample_index(sample, seed_, j))) : 0,
                     valid);
                 }
               })
        .prefix;
  }

  __device__ Moments take_moments() {
    const int lane = lane_of_thread();
    const int tile = warp_of_thread() * kMomentElements;
    Moments own;
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 4; ++c) {
        const int i = tile + 128 * r + 4 * lane + c;
        if (i < elements_) take<Traits::kMomentsOf, Traits::kOfMagnitudes>(own, shared_.at(i));
      }
    own = warp_tree(own);
    if (lane == 0) shared_.tiles[warp_of_thread()] = own;
    block_barrier();
    return block_tree(threadIdx.x < kGroupMomentTiles ? shared_.tiles[threadIdx.x] : Moments{},
                      shared_.scratch);
  }

  __device__ void send(std::uint32_t bits) {
    const auto scan = block_scan(static_cast<std::uint32_t>(count_bits(bits)), shared_.scratch);
    std::int64_t at = scan.before;
    for (; bits != 0 && at < segment_.capacity; bits &= bits - 1, ++at) {
      const int index = first_ + lowest_bit(bits);
      shared_.at(index) =
          send_value(segment_, at, shared_.at(index), static_cast<std::uint32_t>(index));
    }
    if (threadIdx.x == 0) {
      const bool fits = scan.total <= segment_.capacity;
      *segment_.count = fits ? scan.total : segment_.capacity;
      *segment_.status = shared_.status | (fits ? 0u : kTruncated);
    }
    block_barrier();
    for (int i = static_cast<int>(threadIdx.x); i < elements_; i += kBlockThreads)
      segment_.residual[i] = shared_.at(i);
  }

  const Segment& segment_;
  SmallShared& shared_;
  std::uint64_t seed_;
  int elements_;
  int run_;    // elements of each thread, neighbours
  int first_;  // of this thread's
};

}  // namespace gradcast::GRADCAST_DEVICE
