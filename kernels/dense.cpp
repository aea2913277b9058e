// No compression: the baseline that every result is compared with.
#include "kernels/compressor.hpp"

namespace gradcast::compressors {

extern constinit const Compressor dense{
    .name = "dense",
    .summary = "fp32 gradients as they are",
    .aggregation = Aggregation::AllReduce,
    .source = "-",
};

}  // namespace gradcast::compressors
