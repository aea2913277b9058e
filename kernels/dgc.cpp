// DGC: a threshold estimated from a 1 % sample, and where far more than k pass it, a second, exact
// selection. Lin et al., "Deep Gradient Compression", ICLR 2018, section 5.
//
// Mode::Paper follows synxlin/deep-gradient-compression, the paper's first author's: the rank in
// the sample is k scaled to the sample, which expects at least two of the k; what equals the
// threshold passes. Mode::Code is `dgcsampling` of hclhkbu/GaussianK-SGD: the rank is k itself (an
// error where k is more than the sample; here the sample's least serves), and only what is above
// passes.
#include <algorithm>

#include "kernels/reference.hpp"
#include "kernels/rule.hpp"

namespace gradcast::compressors {
namespace {

/// The rank-th largest magnitude in the sample.
Key sampled_threshold(std::span<const float> u, std::uint64_t seed, const Sample& sample,
                      std::int64_t rank) {
  std::vector<Key> keys;
  keys.reserve(static_cast<std::size_t>(sample.size()));
  for (std::int64_t j = 0; j < sample.size(); ++j)
    keys.push_back(magnitude_key(u[static_cast<std::size_t>(sample_index(sample, seed, j))]));
  return k_largest(std::move(keys), rank).key;
}

/// Never above infinity's: what is not finite passes.
Key least_that_passes(std::span<const float> u, const Selection& selection) {
  const auto elements = static_cast<std::int64_t>(u.size());
  const bool paper = selection.mode == Mode::Paper;
  const Sample sample = make_sample(elements, dgc_least_sample(paper, elements, selection.k));
  const std::int64_t rank = dgc_rank(paper, sample.size(), elements, selection.k);
  const Key threshold = sampled_threshold(u, selection.seed, sample, rank);
  return std::min(paper ? threshold : threshold + 1, kInfinityKey);
}

Encoded dgc_encode(std::span<const float> gradient, std::span<float> residual,
                   const Selection& selection, const SparseOutput& output) {
  require_mode("dgc", true, selection.mode);
  return encode_by(gradient, residual, selection, output, [&](std::span<float> u) {
    const Key least = least_that_passes(u, selection);
    if (3 * count_from(u, least) > 4 * selection.k)
      return emit(u, output, k_largest_magnitudes(u, selection.k));
    return emit(u, output, all_from(least));
  });
}

}  // namespace

extern constinit const Compressor dgc{
    .name = "dgc",
    .summary = "hierarchical sampling: a sample's top-k gives the threshold",
    .aggregation = Aggregation::AllGather,
    .source = "Lin et al., ICLR 2018",
    .two_modes = true,
    .exact_count = false,
    .rule = Rule::Dgc,
    .encode = dgc_encode,
};

}  // namespace gradcast::compressors
