// Natural compression: the power of two below or above, at random so that the mean is right.
// Horvath et al., "Natural Compression for Distributed Deep Learning", arXiv 1905.10988, definition
// 1: a sign and 8 bits of exponent.
#include "kernels/pack_reference.hpp"

namespace gradcast::compressors {
namespace {

constexpr Packing natural_packing = packing_of<PackRule::Natural>(true);

}  // namespace

extern constinit const Compressor natural{
    .name = "natural",
    .summary = "the nearest powers of two, at random",
    .family = Family::Quantiser,
    .aggregation = Aggregation::AllGather,
    .source = "Horvath et al., arXiv 1905.10988",
    .feedback = false,
    .packing = &natural_packing,
};

}  // namespace gradcast::compressors
