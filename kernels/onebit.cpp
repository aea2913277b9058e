// 1-bit SGD: one bit an element, received as the mean of those that have it alike. Seide et al.,
// "1-Bit Stochastic Gradient Descent and its Application to Data-Parallel Distributed Training of
// Speech DNNs", Interspeech 2014, section 3, with two means of a whole tensor in place of a column.
#include "kernels/pack_reference.hpp"

namespace gradcast::compressors {
namespace {

constexpr Packing onebit_packing = packing_of<PackRule::Onebit>();

}  // namespace

extern constinit const Compressor onebit{
    .name = "onebit",
    .summary = "one of two means, of either side of zero",
    .family = Family::Quantiser,
    .aggregation = Aggregation::AllGather,
    .source = "Seide et al., Interspeech 2014",
    .packing = &onebit_packing,
};

}  // namespace gradcast::compressors
