// QSGD: |u| as one of s levels of the 2-norm, rounded at random so that the mean is right. Alistarh
// et al., "QSGD: Communication-Efficient SGD via Gradient Quantization and Encoding", NeurIPS 2017,
// section 3.1, with the norm of the whole tensor and codes of fixed length in place of Elias'. 127
// levels fill a byte with the sign. Workers may share the largest norm (levels.hpp).
#include "kernels/level_reference.hpp"

namespace gradcast::compressors {
namespace {

constexpr Levels qsgd_levels = levels_of<PackRule::Qsgd>();

constexpr Packing qsgd_packing = packing_of<PackRule::Qsgd>(true, 0, &qsgd_levels);

}  // namespace

extern constinit const Compressor qsgd{
    .name = "qsgd",
    .summary = "levels of the 2-norm, rounded at random",
    .family = Family::Quantiser,
    .aggregation = Aggregation::AllGather,
    .source = "Alistarh et al., NeurIPS 2017",
    .parameter = {.name = "levels",
                  .meaning = "levels of a magnitude, beside zero",
                  .usual = 127,
                  .least = 1,
                  .most = 32767},
    .feedback = false,
    .packing = &qsgd_packing,
};

}  // namespace gradcast::compressors
