// EF-signSGD: the signs, times the mean magnitude. Karimireddy et al., "Error Feedback Fixes
// SignSGD and other Gradient Compression Schemes", ICML 2019, Algorithm 1.
#include "kernels/pack_reference.hpp"

namespace gradcast::compressors {
namespace {

constexpr Packing efsignsgd_packing = packing_of<PackRule::Efsignsgd>();

}  // namespace

extern constinit const Compressor efsignsgd{
    .name = "efsignsgd",
    .summary = "signs, times the mean magnitude",
    .family = Family::Quantiser,
    .aggregation = Aggregation::AllGather,
    .source = "Karimireddy et al., ICML 2019",
    .packing = &efsignsgd_packing,
};

}  // namespace gradcast::compressors
