// TernGrad: 0 or +-s at random so that the mean is right, s the largest magnitude after clipping at
// 2.5 standard deviations. Wen et al., "TernGrad: Ternary Gradients to Reduce Communication in
// Distributed Deep Learning", NeurIPS 2017, equations 1 to 4 and section 3.2 (clipping). Each
// worker has its own s, or all share the largest (levels.hpp), as the paper also does.
#include "kernels/level_reference.hpp"

namespace gradcast::compressors {
namespace {

constexpr Levels terngrad_levels = levels_of<PackRule::Terngrad>();

constexpr Packing terngrad_packing = packing_of<PackRule::Terngrad>(true, 0, &terngrad_levels);

}  // namespace

extern constinit const Compressor terngrad{
    .name = "terngrad",
    .summary = "0 or the largest magnitude with a sign, at random",
    .family = Family::Quantiser,
    .aggregation = Aggregation::AllGather,
    .source = "Wen et al., NeurIPS 2017",
    .parameter = {.name = "clip",
                  .meaning = "standard deviations at which elements are clipped; 0: not at all",
                  .usual = 2.5,
                  .least = 0,
                  .most = 1000,
                  .whole = false},
    .feedback = false,
    .packing = &terngrad_packing,
};

}  // namespace gradcast::compressors
