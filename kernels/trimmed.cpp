// Trimmed Top-k: the threshold steps down from the maximum until k elements pass. Fang et al.,
// "RedSync: Reducing synchronization bandwidth for distributed deep learning training system", JPDC
// 2019.
//
// RedSync then selects exactly k of what passed, so Mode::Paper is Top-k. `redsynctrim` of
// hclhkbu/GaussianK-SGD (Mode::Code) sends all that passed. Below the mean its loop goes on with
// negative ratios, and never ends where all magnitudes are equal; here everything is sent.
#include "kernels/reference.hpp"
#include "kernels/rule.hpp"

namespace gradcast::compressors {
namespace {

/// The first threshold of Mode::Code's loop that at least k elements pass.
Key least_that_passes(std::span<const float> u, const Moments& moments, std::int64_t k) {
  const auto n = static_cast<double>(u.size() - moments.unfinite);
  const double mean = n > 0 ? moments.sum / n : 0.0;
  const double largest = float_of(moments.largest);
  for (int step = 0; step < kTrimSteps; ++step) {
    const double threshold = mean + trim_ratio(step) * (largest - mean);
    const Key least = least_key_above(static_cast<float>(threshold));
    if (count_from(u, least) >= k) return least;
  }
  return 0;
}

Encoded trimmed_encode(std::span<const float> gradient, std::span<float> residual,
                       const Selection& selection, const SparseOutput& output) {
  require_mode("trimmed", true, selection.mode);
  return encode_by(gradient, residual, selection, output, [&](std::span<float> u) {
    if (selection.mode == Mode::Paper) return emit(u, output, k_largest_magnitudes(u, selection.k));
    const Moments moments = moments_of(u, MomentsOf::Magnitudes);
    return emit(u, output, all_from(least_that_passes(u, moments, selection.k)));
  });
}

}  // namespace

extern constinit const Compressor trimmed{
    .name = "trimmed",
    .summary = "threshold stepped down from the maximum (RedSync)",
    .aggregation = Aggregation::AllGather,
    .source = "Fang et al., RedSync, JPDC 2019",
    .two_modes = true,
    .exact_count = false,
    .rule = Rule::Trimmed,
    .encode = trimmed_encode,
};

}  // namespace gradcast::compressors
