// Gaussian-k: a threshold from mean and deviation under a normal distribution, then adjusted.
#include "kernels/compressor.hpp"

namespace gradcast::compressors {

extern constinit const Compressor gaussian{
    .name = "gaussian",
    .summary = "threshold from a fitted normal distribution",
    .aggregation = Aggregation::AllGather,
    .source = "Understanding Top-k Sparsification, Algorithm 1",
};

}  // namespace gradcast::compressors
