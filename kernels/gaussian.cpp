// Gaussian-k: a threshold from mean and deviation under a normal distribution, then adjusted a few
// times. Shi et al., "Understanding Top-k Sparsification in Distributed Deep Learning", arXiv
// 1911.08772, Algorithm 1 (Mode::Paper); `gaussian` of hclhkbu/GaussianK-SGD (Mode::Code): the
// quantile is two-sided, and there is one evaluation less. Neither cuts or fills the selection up
// to k.
#include <cmath>

#include "kernels/normal_quantile.hpp"
#include "kernels/reference.hpp"

namespace gradcast::compressors {
namespace {

float first_threshold(const Moments& moments, const Selection& selection, std::int64_t elements) {
  const auto n = static_cast<double>(elements - moments.unfinite);
  const double mean = n > 0 ? moments.sum / n : 0.0;
  double variance = 0.0;
  if (n > 1) variance = (moments.squares - moments.sum * moments.sum / n) / (n - 1);
  if (variance < 0) variance = 0.0;  // by rounding
  return static_cast<float>(mean + gaussian_deviations(selection, elements) * std::sqrt(variance));
}

Encoded gaussian_encode(std::span<const float> gradient, std::span<float> residual,
                        const Selection& selection, const SparseOutput& output) {
  require_mode("gaussian", true, selection.mode);
  return encode_by(gradient, residual, selection, output, [&](std::span<float> u) {
    const Moments moments = moments_of(u, MomentsOf::Values);
    float threshold = first_threshold(moments, selection, static_cast<std::int64_t>(u.size()));
    Key least = 0;
    const int evaluations = selection.mode == Mode::Paper ? 4 : 3;
    for (int i = 0; i < evaluations; ++i) {
      least = least_key_above(threshold);
      const std::int64_t count = count_from(u, least);
      if (3 * count < 2 * selection.k)
        threshold = 0.5f * threshold;
      else if (3 * count > 4 * selection.k)
        threshold = 1.5f * threshold;
      else
        break;
    }
    // The elements that the last evaluation counted are sent; its adjustment of the threshold is
    // lost.
    return emit(u, output, all_from(least));
  });
}

}  // namespace

extern constinit const Compressor gaussian{
    .name = "gaussian",
    .summary = "threshold from a fitted normal distribution",
    .aggregation = Aggregation::AllGather,
    .source = "Understanding Top-k Sparsification, Algorithm 1",
    .two_modes = true,
    .exact_count = false,
    .rule = Rule::Gaussian,
    .encode = gaussian_encode,
};

}  // namespace gradcast::compressors
