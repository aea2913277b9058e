// bf16: every element as the upper half of a float, added up so by the all-reduce.
// `bf16_compress_hook` of PyTorch's DDP. It overflows where fp32 does, and rounds eight times as
// coarsely as fp16.
#include "kernels/pack_reference.hpp"

namespace gradcast::compressors {
namespace {

constexpr Packing bf16_packing = packing_of<PackRule::Bf16>();

}  // namespace

extern constinit const Compressor bf16{
    .name = "bf16",
    .summary = "the upper half of a float, added up so",
    .family = Family::Cast,
    .aggregation = Aggregation::AllReduce,
    .source = "Kalamkar et al., arXiv 1905.12322; PyTorch bf16_compress_hook",
    .feedback = false,
    .packing = &bf16_packing,
};

}  // namespace gradcast::compressors
