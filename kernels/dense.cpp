// No compression: the baseline that every result is compared with. All elements, whatever k is.
#include "kernels/reference.hpp"

namespace gradcast::compressors {
namespace {

Encoded dense_encode(std::span<const float> gradient, std::span<float> residual,
                     const Selection& selection, const SparseOutput& output) {
  require_mode("dense", false, selection.mode);
  return encode_by(gradient, residual, selection, output,
                   [&](std::span<float> u) { return emit(u, output, all_from(0)); });
}

}  // namespace

extern constinit const Compressor dense{
    .name = "dense",
    .summary = "fp32 gradients as they are",
    .family = Family::Dense,
    .aggregation = Aggregation::AllReduce,
    .source = "-",
    .two_modes = false,
    .exact_count = false,
    .rule = Rule::Everything,
    .encode = dense_encode,
};

}  // namespace gradcast::compressors
