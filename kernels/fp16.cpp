// fp16: every element in half precision, added up in half precision by the all-reduce.
// `fp16_compress_hook` of PyTorch's DDP and `Compression.fp16` of Horovod. Sums beyond 65,504 are
// infinite: PyTorch's hook divides by the workers before it sends, and a caller may do so here.
#include "kernels/pack_reference.hpp"

namespace gradcast::compressors {
namespace {

constexpr Packing fp16_packing = packing_of<PackRule::Fp16>();

}  // namespace

extern constinit const Compressor fp16{
    .name = "fp16",
    .summary = "half precision, added up in half precision",
    .family = Family::Cast,
    .aggregation = Aggregation::AllReduce,
    .source = "Micikevicius et al., ICLR 2018; PyTorch fp16_compress_hook",
    .feedback = false,
    .packing = &fp16_packing,
};

}  // namespace gradcast::compressors
