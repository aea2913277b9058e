// Rand-k: the indices do not depend on the gradient.
#include "kernels/compressor.hpp"

namespace gradcast::compressors {

extern constinit const Compressor randk{
    .name = "randk",
    .summary = "k elements chosen uniformly at random",
    .aggregation = Aggregation::AllGather,
    .source = "Stich et al., NeurIPS 2018",
};

}  // namespace gradcast::compressors
