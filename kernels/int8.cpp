// int8: each block of elements as multiples of its largest magnitude / 127. Block-wise quantisation
// as in Dettmers et al., "8-bit Optimizers via Block-wise Quantization", ICLR 2022, section 2, with
// evenly spaced levels as in Wang et al., "ZeRO++", 2023, section 3.3. Blocks of 256 are the
// project's choice.
#include "kernels/pack_reference.hpp"

namespace gradcast::compressors {
namespace {

constexpr Packing int8_packing = packing_of<PackRule::Int8>();

}  // namespace

extern constinit const Compressor int8{
    .name = "int8",
    .summary = "8 bits an element, a scale for each block",
    .family = Family::Quantiser,
    .aggregation = Aggregation::AllGather,
    .source = "Dettmers et al., ICLR 2022; ZeRO++",
    .parameter = {.name = "block",
                  .meaning = "elements that share a scale",
                  .usual = 256,
                  .least = 32,
                  .most = 65536},
    .packing = &int8_packing,
};

}  // namespace gradcast::compressors
