// rTop-k: the r largest in magnitude, then k of these uniformly at random. Barnes, Inan, Isik &
// Ozgur, "rTop-k: A Statistical Estimation Approach to Distributed SGD", arXiv 2005.10761.
#include "kernels/reference.hpp"

namespace gradcast::compressors {
namespace {

Encoded rtopk_encode(std::span<const float> gradient, std::span<float> residual,
                     const Selection& selection, const SparseOutput& output) {
  require_mode("rtopk", false, selection.mode);
  return encode_by(gradient, residual, selection, output, [&](std::span<float> u) {
    const std::int64_t r = rtopk_candidates(selection, static_cast<std::int64_t>(u.size()));
    const Cut r_largest = k_largest_magnitudes(u, r);

    std::vector<Key> keys;  // random ones, of the r candidates
    Cut candidates = r_largest;
    for (std::size_t i = 0; i < u.size(); ++i)
      if (candidates.takes(magnitude_key(u[i])))
        keys.push_back(random_key(selection.seed, static_cast<std::uint32_t>(i)));
    Cut drawn = k_largest(std::move(keys), selection.k);

    candidates = r_largest;
    return emit(u, output, [&](std::uint32_t index, float value) {
      return candidates.takes(magnitude_key(value)) &&
             drawn.takes(random_key(selection.seed, index));
    });
  });
}

}  // namespace

extern constinit const Compressor rtopk{
    .name = "rtopk",
    .summary = "top r by magnitude, then k of them at random",
    .aggregation = Aggregation::AllGather,
    .source = "Barnes et al., arXiv 2005.10761",
    .two_modes = false,
    .exact_count = true,
    .rule = Rule::Rtopk,
    .encode = rtopk_encode,
};

}  // namespace gradcast::compressors
