#include "sim/generate/torch_compressors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sim/inputs/cost_table.hpp"

namespace gradcast {
namespace {

using namespace torch_operators;
using Calls = std::vector<OperatorCall>;

// ---- the normal distribution ----

/// Share of a standard normal beyond z on either side.
double two_sided_tail(double z) { return std::erfc(z / std::numbers::sqrt2); }

/// The z beyond which that share lies. Bisection: erfc falls everywhere, and 40 is past its end.
double two_sided_quantile(double tail) {
  double low = 0;
  double high = 40;
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    (two_sided_tail(middle) > tail ? low : high) = middle;
  }
  return low;
}

// ---- what several compressors do ----

void append(Calls& calls, const Calls& more) {
  calls.insert(calls.end(), more.begin(), more.end());
}

/// The elements above a threshold, as a list of indices.
Calls find_above_threshold(double elements, double found) {
  return {{kGreater, elements}, {kNonzero, elements}, {kFoundIndices, found}};
}

/// An exact Top-k of a list of indices into a tensor, sorted by magnitude.
Calls topk_among(double candidates, double k) {
  return {{kGather, candidates}, {kTopk, candidates}, {kGatherIndices, k}};
}

/// The last calls of most compressors: gather the selected values, and make a residual without
/// them.
Calls take(double elements, double selected) {
  return {{kGather, selected}, {kCopy, elements}, {kZeroAt, selected}};
}

// ---- the compressors ----

/// The fit times the call alone; the 28 bytes an element beside it (residual, abs, copy) are lost
/// in its hundreds of milliseconds.
TorchEncoding encode_topk(std::int64_t elements, double density) {
  return {{{kTopk, static_cast<double>(elements)}},
          static_cast<double>(wanted_elements(elements, density))};
}

/// "randomkec", the variant with error feedback.
TorchEncoding encode_randk(std::int64_t elements, double density) {
  const auto d = static_cast<double>(elements);
  const auto k = static_cast<double>(wanted_elements(elements, density));
  Calls calls{{kAdd, d}, {kRandperm, d}};
  append(calls, take(d, k));
  return {calls, k};
}

/// DGC draws 1 % of the elements, and the sample's element of rank `sample_rank` is the threshold.
struct Sample {
  std::int64_t size;
  std::int64_t rank;

  static std::int64_t size_of(std::int64_t elements) { return wanted_elements(elements, 0.01); }

  /// Strictly above the threshold: rank - 1 of the sample, and of the others rank / (size + 1) on
  /// average, whatever the distribution.
  double expected_above(std::int64_t elements) const {
    const auto m = static_cast<double>(size);
    const auto r = static_cast<double>(rank);
    return r - 1 + (static_cast<double>(elements) - m) * r / (m + 1);
  }
};

Calls sampled_threshold(double elements, double sample) {
  return {{kAdd, elements},
          {kAbs, elements},
          {kRandperm, elements},
          {kGather, sample},
          {kTopk, sample}};
}

/// The code takes the k-th of the sample too, k being counted in the whole tensor: at density 0.001
/// that is the sample's upper tenth, and 100 k candidates go into the second Top-k. Above density
/// 0.01 the sample has no k-th element.
TorchEncoding encode_dgc_code(std::int64_t elements, double density) {
  const auto d = static_cast<double>(elements);
  const std::int64_t wanted = wanted_elements(elements, density);
  const auto k = static_cast<double>(wanted);
  const Sample sample{Sample::size_of(elements), wanted};
  const double candidates = sample.expected_above(elements);
  Calls calls = sampled_threshold(d, static_cast<double>(sample.size));
  append(calls, find_above_threshold(d, candidates));
  const bool too_many = candidates > 4 * k / 3;
  if (too_many) append(calls, topk_among(candidates, k));
  const double selected = too_many ? k : candidates;
  append(calls, take(d, selected));
  return {calls, selected};
}

/// The paper invokes Top-k twice on subsets. The first subset is the sample, with its own share of
/// k; that leaves about k candidates. The second is those candidates.
TorchEncoding encode_dgc_paper(std::int64_t elements, double density) {
  const auto d = static_cast<double>(elements);
  const auto k = static_cast<double>(wanted_elements(elements, density));
  const std::int64_t size = Sample::size_of(elements);
  const Sample sample{size, wanted_elements(size, density)};
  const double candidates = sample.expected_above(elements);
  const double selected = std::min(candidates, k);
  Calls calls = sampled_threshold(d, static_cast<double>(size));
  append(calls, find_above_threshold(d, candidates));
  append(calls, topk_among(candidates, selected));
  append(calls, take(d, selected));
  return {calls, selected};
}

/// Gaussian-k from a first threshold on, in standard deviations. The threshold is halved if it
/// finds less than 2k/3, and raised by half if it finds more than 4k/3. The elements of the last
/// evaluation are sent.
TorchEncoding encode_gaussian(std::int64_t elements, double density, double threshold,
                              int max_evaluations) {
  const auto d = static_cast<double>(elements);
  const auto k = static_cast<double>(wanted_elements(elements, density));
  Calls calls{{kAdd, d}, {kStd, d}, {kMean, d}, {kAbs, d}};
  double found = 0;
  for (int evaluation = 0; evaluation < max_evaluations; ++evaluation) {
    found = d * two_sided_tail(threshold);
    append(calls, find_above_threshold(d, found));
    if (found < 2 * k / 3)
      threshold *= 0.5;
    else if (found > 4 * k / 3)
      threshold *= 1.5;
    else
      break;
  }
  append(calls, take(d, found));
  return {calls, found};
}

/// The code leaves half the density on either side, and evaluates three thresholds at most.
TorchEncoding encode_gaussian_code(std::int64_t elements, double density) {
  return encode_gaussian(elements, density, two_sided_quantile(density), 3);
}

/// Algorithm 1, read as it stands: the quantile 1 - k/d of one side, loop index 0 to 3.
TorchEncoding encode_gaussian_paper(std::int64_t elements, double density) {
  const double share =
      static_cast<double>(wanted_elements(elements, density)) / static_cast<double>(elements);
  return encode_gaussian(elements, density, two_sided_quantile(2 * share), 4);
}

/// "redsynctrim": thresholds mean + r (max - mean) of the magnitudes for r = 0.8, 0.6, ... until k
/// elements pass; where 0.8 is not enough, the code evaluates it again. The maximum of d magnitudes
/// is taken as the quantile 1 - 1/(2d) of a normal, beyond which one of them is expected.
TorchEncoding trim(std::int64_t elements, double density) {
  const auto d = static_cast<double>(elements);
  const auto k = static_cast<double>(wanted_elements(elements, density));
  const double mean = std::sqrt(2 / std::numbers::pi);
  const double max = two_sided_quantile(1 / d);
  const auto found_at = [&](int tenths) {
    const double threshold = mean + 0.1 * tenths * (max - mean);
    return threshold > 0 ? d * two_sided_tail(threshold) : d;
  };
  Calls calls{{kAdd, d}, {kAbs, d}, {kMean, d}, {kMax, d}};
  double found = found_at(8);
  append(calls, find_above_threshold(d, found));
  for (int tenths = 8; found < k; tenths -= 2) {
    found = found_at(tenths);
    append(calls, find_above_threshold(d, found));
  }
  return {calls, found};
}

/// The code sends all that passed.
TorchEncoding encode_trimmed_code(std::int64_t elements, double density) {
  TorchEncoding trimmed = trim(elements, density);
  append(trimmed.calls, take(static_cast<double>(elements), trimmed.selected));
  return trimmed;
}

/// RedSync's paper ends with an exact Top-k of what passed.
TorchEncoding encode_trimmed_paper(std::int64_t elements, double density) {
  const auto k = static_cast<double>(wanted_elements(elements, density));
  TorchEncoding trimmed = trim(elements, density);
  append(trimmed.calls, topk_among(trimmed.selected, k));
  append(trimmed.calls, take(static_cast<double>(elements), k));
  return {trimmed.calls, k};
}

/// The top r = 5k, then k of them at random. No code of its authors is known: written with the same
/// operators, and r is this project's choice.
TorchEncoding encode_rtopk(std::int64_t elements, double density) {
  const auto d = static_cast<double>(elements);
  const auto k = static_cast<double>(wanted_elements(elements, density));
  const double r = std::min(5 * k, d);
  Calls calls{{kAdd, d}, {kAbs, d}, {kTopk, d}, {kRandperm, r}, {kGatherIndices, k}};
  append(calls, take(d, k));
  return {calls, k};
}

/// GRACE's: one look at the magnitudes. It has no rank: as many pass as the density says.
TorchEncoding encode_threshold(std::int64_t elements, double density) {
  const auto d = static_cast<double>(elements);
  const auto found = static_cast<double>(wanted_elements(elements, density));
  Calls calls{{kAdd, d}, {kAbs, d}};
  append(calls, find_above_threshold(d, found));
  append(calls, take(d, found));
  return {calls, found};
}

constexpr std::array kCompressors = {
    TorchCompressor{"topk", "", 0.001, 1, encode_topk},
    TorchCompressor{"randk", "", 0, 1, encode_randk},
    TorchCompressor{"dgc", "code", 0, 0.01, encode_dgc_code},
    TorchCompressor{"dgc", "paper", 0, 1, encode_dgc_paper},
    TorchCompressor{"gaussian", "code", 0, 1, encode_gaussian_code},
    TorchCompressor{"gaussian", "paper", 0, 1, encode_gaussian_paper},
    TorchCompressor{"trimmed", "code", 0, 1, encode_trimmed_code},
    TorchCompressor{"trimmed", "paper", 0, 1, encode_trimmed_paper},
    TorchCompressor{"rtopk", "", 0, 1, encode_rtopk},
    TorchCompressor{"threshold", "", 0, 1, encode_threshold},
};

}  // namespace

std::span<const TorchCompressor> torch_compressors() { return kCompressors; }

std::vector<OperatorCall> beside_topk(std::int64_t elements, double selected) {
  const auto d = static_cast<double>(elements);
  Calls calls{{kAdd, d}, {kAbs, d}, {kSortSelected, selected}};
  append(calls, take(d, selected));
  return calls;
}

std::vector<OperatorCall> torch_decoding(std::int64_t elements, double selected, int workers) {
  const auto d = static_cast<double>(elements);
  Calls calls{{kFill, d}};
  for (int worker = 0; worker < workers; ++worker) {
    calls.push_back({kToLong, selected});
    // The authors add a worker's list in two halves: gradient[indices] += values, three operators
    // each.
    for (int half = 0; half < 2; ++half)
      append(calls, {{kGather, selected / 2}, {kAdd, selected / 2}, {kPut, selected / 2}});
  }
  calls.push_back({kDivide, d});
  return calls;
}

Seconds time_of(std::span<const OperatorCall> calls, const PublishedGpu& device) {
  Seconds total{0};
  for (const OperatorCall& call : calls) total += time_of(call, device);
  return total;
}

}  // namespace gradcast
