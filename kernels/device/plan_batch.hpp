// Divides a list of tensors for the kernels. It is plain arithmetic, done once on the host.
#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/device/batch.cuh"
#include "kernels/encoder.hpp"
#include "kernels/normal_quantile.hpp"

namespace gradcast::GRADCAST_DEVICE {

/// The tables that a Batch points to.
struct BatchPlan {
  std::vector<Segment> segments;  // large ones first
  std::vector<Key> first_threshold;
  std::vector<std::int32_t> group_segment, chunk_segment, sample_block_segment;
  int large = 0;
  int small = 0;
  int slots = 8;
};

/// The share of a segment's elements to catch, of which `wanted` are wanted. Twice as many leave
/// room for gradients that change from call to call; Gaussian-k's threshold moves around the wanted
/// rank, so it aims at four times. If much is wanted, less is enough: each caught element costs 16
/// bytes, and the noise of a sample is small there.
inline double share_to_catch(Rule rule, double wanted) {
  return rule == Rule::Gaussian ? std::min(4 * wanted, wanted + 0.15)
                                : std::min(2 * wanted, wanted + 0.06);
}

/// With more candidates than this share of a segment, a radix select over all of it is cheaper.
inline constexpr double kMostCaught = 0.4;

/// The slots that are enough for nearly all tiles of a segment of which `share` is to be caught:
/// the sample's noise and its coarse bins may let through a quarter more; of that, mean + 4
/// deviations.
inline int slots_for(double share) {
  const double mean = 1.25 * share * kTileElements;
  int slots = 8;
  while (slots < kMostSlots && slots < mean + 4 * std::sqrt(mean) + 2) slots *= 2;
  return slots;
}

inline void require_possible(const EncoderTensor& tensor) {
  if (tensor.elements < 1 || tensor.elements > INT32_MAX)
    throw std::invalid_argument("a tensor has 1 to 2147483647 elements, not " +
                                std::to_string(tensor.elements));
  const bool has_room =
      tensor.value_type == ValueType::Fp32 ? tensor.values != nullptr : tensor.codes != nullptr;
  if (tensor.gradient == nullptr || tensor.residual == nullptr || tensor.count == nullptr ||
      tensor.status == nullptr || (tensor.capacity > 0 && (!has_room || tensor.indices == nullptr)))
    throw std::invalid_argument("a tensor lacks a pointer");
  if (tensor.capacity < 0) throw std::invalid_argument("a tensor's capacity is negative");
}

/// Plans the sample and threshold of a large segment that follows a rule. Returns the share of its
/// elements that will be candidates.
inline double plan_sample(Segment& segment, Rule rule, std::int64_t wanted) {
  const auto elements = static_cast<double>(segment.elements);
  const auto rank = static_cast<double>(wanted);
  segment.given_threshold = kLargestKey;
  segment.first_sample_block = -1;
  if (rule == Rule::Randk) {
    // Keys are uniform: of a binomial count, the mean and 6 deviations below it.
    const double share = (rank + 6 * std::sqrt(rank) + 8) / elements;
    if (share > kMostCaught) return 0;
    segment.given_threshold = static_cast<Key>(4294967296.0 * (1 - share));
    return share;
  }
  // 1/32 of the elements costs a quarter of a byte of each; 2^17 are enough of any tensor: in an
  // emulation at 4 M elements 1.50 to 2.57 times k were caught with 2^16 samples, where 2 were
  // wanted, and 1.76 to 2.21 with 2^18.
  const std::int64_t samples = std::clamp<std::int64_t>(segment.elements / 32, 4096, 1 << 17);
  const double mean = static_cast<double>(samples) * rank / elements;
  const double aim = share_to_catch(rule, rank / elements) * static_cast<double>(samples);
  const double at_least = std::ceil(std::max(aim, mean + 6 * std::sqrt(mean) + 8));
  const double share = at_least / static_cast<double>(samples);
  if (share > kMostCaught) return 0;
  segment.sample_runs = static_cast<std::int32_t>(samples / 8);
  segment.sample_stride = static_cast<std::int32_t>(segment.elements / 8 / segment.sample_runs);
  segment.sample_wanted = static_cast<std::uint32_t>(at_least);
  segment.planned_catch = share * elements;
  segment.sample_blocks = static_cast<std::int32_t>((samples + kBlockSamples - 1) / kBlockSamples);
  segment.first_sample_block = 0;  // numbered by plan_batch
  return share;
}

/// Plans a large segment of which all from a given key on is sent: that is what is caught, unless
/// it may be too much. Returns the share of its elements that will be candidates.
inline double plan_given_cut(Segment& segment) {
  constexpr double kWhereUnknown = 0.1;
  const double share = segment.k > 0
                           ? static_cast<double>(segment.k) / static_cast<double>(segment.elements)
                           : kWhereUnknown;
  if (share > kMostCaught) return 0;
  segment.given_threshold = std::max<Key>(segment.least, 1);  // zeros are no candidates
  return share;
}

inline Segment make_segment(const EncoderTensor& tensor, Rule rule, Mode mode) {
  Segment s{};
  s.gradient = tensor.gradient;
  s.residual = tensor.residual;
  s.values = tensor.values;
  s.indices = tensor.indices;
  s.count = tensor.count;
  s.status = tensor.status;
  s.elements = tensor.elements;
  s.k = std::clamp<std::int64_t>(tensor.k, 0, tensor.elements);
  s.capacity = tensor.capacity;
  s.least = least_key_above(tensor.threshold);
  s.value_type = tensor.value_type;
  s.codes = tensor.codes;
  s.seed = tensor.seed;
  // If both are misaligned alike, tiles begin before them. Moments have an order of addition that
  // begins with the first element, so with them a warp's elements must begin there too.
  const std::int32_t past = elements_past_alignment(tensor.gradient);
  s.aligned = past == elements_past_alignment(ConstNumbers(tensor.residual));
  if (s.aligned) s.pad = past;
  if (s.pad != 0 && (rule == Rule::Gaussian || rule == Rule::Trimmed)) {
    s.aligned = false;
    s.pad = 0;
  }
  s.given_threshold = kLargestKey;
  s.first_sample_block = -1;
  if (s.k == 0 || s.k == s.elements) return s;
  const Selection selection{s.k, mode, tensor.seed, tensor.candidates};
  s.draw_from = rtopk_candidates(selection, s.elements);
  if (rule == Rule::Gaussian) s.quantile = gaussian_deviations(selection, s.elements);
  if (rule == Rule::Dgc) {
    const bool paper = mode == Mode::Paper;
    s.sample = make_sample(s.elements, dgc_least_sample(paper, s.elements, s.k));
    s.sample_rank = dgc_rank(paper, s.sample.size(), s.elements, s.k);
  }
  return s;
}

inline BatchPlan plan_batch(Rule rule, Mode mode, const std::vector<EncoderTensor>& tensors,
                            const EncoderTuning& tuning) {
  if (tensors.empty()) throw std::invalid_argument("an encoder needs a tensor");
  BatchPlan plan;
  for (const EncoderTensor& tensor : tensors) {
    require_possible(tensor);
    plan.segments.push_back(make_segment(tensor, rule, mode));
  }
  const auto is_large = [](const Segment& s) { return s.elements > kSmallElements; };
  plan.large =
      static_cast<int>(std::stable_partition(plan.segments.begin(), plan.segments.end(), is_large) -
                       plan.segments.begin());
  plan.small = static_cast<int>(plan.segments.size()) - plan.large;
  for (int i = 0; i < plan.large; ++i) {
    Segment& s = plan.segments[static_cast<std::size_t>(i)];
    s.first_group = static_cast<std::int32_t>(plan.group_segment.size());
    s.groups =
        static_cast<std::int32_t>((s.elements + s.pad + kGroupElements - 1) / kGroupElements);
    plan.group_segment.resize(plan.group_segment.size() + static_cast<std::size_t>(s.groups), i);
    s.first_chunk = static_cast<std::int32_t>(plan.chunk_segment.size());
    const auto chunks =
        static_cast<std::size_t>((moment_tiles_of(s) + kTreeWidth - 1) / kTreeWidth);
    plan.chunk_segment.resize(plan.chunk_segment.size() + chunks, i);
    if (rule == Rule::Threshold) {
      plan.slots = std::max(plan.slots, slots_for(plan_given_cut(s)));
    } else if (s.k > 0 && s.k < s.elements && rule != Rule::Everything) {
      const double share = plan_sample(s, rule, rule == Rule::Rtopk ? s.draw_from : s.k);
      plan.slots = std::max(plan.slots, slots_for(share));
    }
    if (tuning.first_threshold) {
      s.given_threshold = *tuning.first_threshold;
      s.first_sample_block = -1;
      s.sample_blocks = 0;
    }
    if (s.first_sample_block >= 0) {
      s.first_sample_block = static_cast<std::int32_t>(plan.sample_block_segment.size());
      plan.sample_block_segment.resize(
          plan.sample_block_segment.size() + static_cast<std::size_t>(s.sample_blocks), i);
    }
    // Infinities and NaNs are candidates, so that the stream sees them.
    if (rule != Rule::Randk) s.given_threshold = std::min(s.given_threshold, kInfinityKey);
    plan.first_threshold.push_back(s.given_threshold);
  }
  if (tuning.slots > 0) plan.slots = tuning.slots;
  if (plan.slots > kMostSlots || (plan.slots & (plan.slots - 1)) != 0)
    throw std::invalid_argument("slots are a power of two up to 256");
  return plan;
}

}  // namespace gradcast::GRADCAST_DEVICE
