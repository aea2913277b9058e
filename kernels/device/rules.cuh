// The counts that a compressor's rule needs of a vector, and its decision from them. The
// definitions are those of the reference (kernels/<compressor>.cpp). Here they have a form that can
// be decided from candidates, without another look at u.
#pragma once
#include "kernels/device/dialect.cuh"
#include "kernels/rule.hpp"
#include "kernels/selection.hpp"

namespace gradcast::GRADCAST_DEVICE {

template <Rule kRule, Mode kMode>
struct RuleTraits {
  static constexpr bool kRandomKeys = kRule == Rule::Randk;
  static constexpr bool kTrims = kRule == Rule::Trimmed && kMode == Mode::Code;
  static constexpr bool kTakesMoments = kRule == Rule::Gaussian || kTrims;
  static constexpr bool kOfMagnitudes = kTrims;  // moments of |u| instead of u
  static constexpr MomentsOf kMomentsOf = kTrims ? MomentsOf::Magnitudes : MomentsOf::Values;
  static constexpr bool kTakesSample = kRule == Rule::Dgc;
  static constexpr bool kCounts = kTakesMoments || kTakesSample;
  static constexpr bool kDrawsFromTop = kRule == Rule::Rtopk;
  static constexpr bool kGivenCut = kRule == Rule::Threshold;
  /// True if the rule may select the k largest, whose last key no threshold gives.
  static constexpr bool kMayRank = !kTakesMoments && !kGivenCut && kRule != Rule::Everything;
  /// Gaussian-k's evaluations: Algorithm 1 has four, the authors' code three.
  static constexpr int kEvaluations = kMode == Mode::Paper ? 4 : 3;
};

/// All thresholds that a rule might use, each as the smallest key that passes it.
struct Thresholds {
  // Gaussian-k halves or raises its threshold up to three times: a tree of 1 + 2 + 4 + 8.
  static constexpr int kMost = 15;
  int count;
  Key least[kMost];
};

template <Rule kRule, Mode kMode>
__device__ inline void thresholds_of(const Moments& moments, std::int64_t elements, double quantile,
                                     Thresholds& thresholds) {
  using Traits = RuleTraits<kRule, kMode>;
  const double finite = static_cast<double>(elements - moments.unfinite);
  const double mean = finite > 0 ? moments.sum / finite : 0;
  if (kRule == Rule::Gaussian) {
    double variance =
        finite > 1 ? (moments.squares - moments.sum * moments.sum / finite) / (finite - 1) : 0;
    if (variance < 0) variance = 0;
    float tree[Thresholds::kMost];
    tree[0] = static_cast<float>(mean + quantile * sqrt(variance));
    thresholds.count = (1 << Traits::kEvaluations) - 1;
    for (int i = 0; i < thresholds.count; ++i) {
      if (2 * i + 2 < thresholds.count) {
        tree[2 * i + 1] = 0.5f * tree[i];
        tree[2 * i + 2] = 1.5f * tree[i];
      }
      thresholds.least[i] = least_key_above(tree[i]);
    }
  } else {
    const double largest = static_cast<double>(float_of(moments.largest));
    thresholds.count = kTrimSteps;
    for (int i = 0; i < kTrimSteps; ++i)
      thresholds.least[i] =
          least_key_above(static_cast<float>(mean + trim_ratio(i) * (largest - mean)));
  }
}

/// DGC's one threshold, from the sample's element of the wanted rank.
template <Mode kMode>
__device__ inline void thresholds_of_sample(Key of_rank, Thresholds& thresholds) {
  const Key least = kMode == Mode::Paper ? of_rank : of_rank + 1;
  thresholds.count = 1;
  thresholds.least[0] = least < kInfinityKey ? least : kInfinityKey;
}

struct Decision {
  enum Kind : std::uint32_t {
    Unknown,  // below the candidates, where counts are not known
    Rank,     // the k largest
    Least,    // all from `least` on
  };
  Kind kind;
  Key least;
};

/// `counts[i]` elements have a key of at least `thresholds.least[i]`. If that is below `floor`, the
/// count is a lower bound.
template <Rule kRule, Mode kMode>
__device__ inline Decision decide(const Thresholds& thresholds, const std::uint32_t* counts,
                                  Key floor, std::int64_t k) {
  const auto known = [&](int i) { return thresholds.least[i] >= floor; };
  const auto too_many = [&](int i) { return 3 * static_cast<std::int64_t>(counts[i]) > 4 * k; };
  const auto too_few = [&](int i) { return 3 * static_cast<std::int64_t>(counts[i]) < 2 * k; };
  if (kRule == Rule::Gaussian) {
    int at = 0;
    for (int i = 1; i < RuleTraits<kRule, kMode>::kEvaluations; ++i) {
      if (too_many(at)) {
        at = 2 * at + 2;
      } else if (!known(at)) {
        return {Decision::Unknown, 0};
      } else if (too_few(at)) {
        at = 2 * at + 1;
      } else {
        break;
      }
    }
    return {Decision::Least, thresholds.least[at]};
  }
  if (kRule == Rule::Trimmed) {
    for (int i = 0; i < thresholds.count; ++i) {
      if (counts[i] >= k) return {Decision::Least, thresholds.least[i]};
      if (!known(i)) return {Decision::Unknown, 0};
    }
    return {Decision::Least, 0};
  }
  if (too_many(0)) return {Decision::Rank, 0};
  return {known(0) ? Decision::Least : Decision::Unknown, thresholds.least[0]};
}

/// The selection of a small tensor: keys above `key`, and the first `ties` of those equal to it.
struct Selected {
  Key key;
  std::uint32_t ties;
};
inline constexpr std::uint32_t kAllTies = 0xffffffffu;

__device__ __forceinline__ Selected select_from(Key least) { return {least, kAllTies}; }
__device__ __forceinline__ Selected select_everything() { return {0, kAllTies}; }

}  // namespace gradcast::GRADCAST_DEVICE
