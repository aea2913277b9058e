// signSGD with majority vote: workers send signs, and receive +1, -1, or 0 of a tie. Bernstein et
// al., "signSGD: Compressed Optimisation for Non-Convex Problems", ICML 2018, Algorithm 1. Received
// signs have no size, and are not divided by the workers; the learning rate alone is the step.
// With a residual, +-1 is what counts as sent.
#include "kernels/pack_reference.hpp"

namespace gradcast::compressors {
namespace {

constexpr Packing signsgd_packing = packing_of<PackRule::Signsgd>();

}  // namespace

extern constinit const Compressor signsgd{
    .name = "signsgd",
    .summary = "signs, by majority vote",
    .family = Family::Quantiser,
    .aggregation = Aggregation::AllGather,
    .source = "Bernstein et al., ICML 2018",
    .feedback = false,
    .packing = &signsgd_packing,
};

}  // namespace gradcast::compressors
