// Rand-k: a uniformly random k-subset of the indices, with error feedback. Stich, Cordonnier &
// Jaggi, "Sparsified SGD with Memory", NeurIPS 2018; `randomkec` of hclhkbu/GaussianK-SGD, which
// takes the first k of a random permutation: here the k indices with the largest random keys.
#include "kernels/reference.hpp"

namespace gradcast::compressors {
namespace {

Encoded randk_encode(std::span<const float> gradient, std::span<float> residual,
                     const Selection& selection, const SparseOutput& output) {
  require_mode("randk", false, selection.mode);
  return encode_by(gradient, residual, selection, output, [&](std::span<float> u) {
    std::vector<Key> keys(u.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = random_key(selection.seed, static_cast<std::uint32_t>(i));
    Cut cut = k_largest(std::move(keys), selection.k);
    return emit(u, output, [&](std::uint32_t index, float) {
      return cut.takes(random_key(selection.seed, index));
    });
  });
}

}  // namespace

extern constinit const Compressor randk{
    .name = "randk",
    .summary = "k elements chosen uniformly at random",
    .aggregation = Aggregation::AllGather,
    .source = "Stich et al., NeurIPS 2018",
    .two_modes = false,
    .exact_count = true,
    .shared_seed = true,
    .rule = Rule::Randk,
    .encode = randk_encode,
};

}  // namespace gradcast::compressors
