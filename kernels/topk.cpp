// Top-k: exact selection by magnitude, with error feedback. Aji & Heafield, "Sparse Communication
// for Distributed Gradient Descent", EMNLP 2017; `topk` of hclhkbu/GaussianK-SGD.
#include "kernels/reference.hpp"

namespace gradcast::compressors {
namespace {

Encoded topk_encode(std::span<const float> gradient, std::span<float> residual,
                    const Selection& selection, const SparseOutput& output) {
  require_mode("topk", false, selection.mode);
  return encode_by(gradient, residual, selection, output, [&](std::span<float> u) {
    return emit(u, output, k_largest_magnitudes(u, selection.k));
  });
}

}  // namespace

extern constinit const Compressor topk{
    .name = "topk",
    .summary = "the k elements largest in magnitude",
    .aggregation = Aggregation::AllGather,
    .source = "Aji & Heafield, EMNLP 2017",
    .two_modes = false,
    .exact_count = true,
    .rule = Rule::Topk,
    .encode = topk_encode,
};

}  // namespace gradcast::compressors
