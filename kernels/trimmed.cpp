// Trimmed Top-k: the threshold steps down from the maximum until k elements pass.
#include "kernels/compressor.hpp"

namespace gradcast::compressors {

extern constinit const Compressor trimmed{
    .name = "trimmed",
    .summary = "threshold stepped down from the maximum (RedSync)",
    .aggregation = Aggregation::AllGather,
    .source = "Fang et al., RedSync, JPDC 2019",
};

}  // namespace gradcast::compressors
