// DGC: a threshold estimated from a sample, then a second selection among what passed it.
#include "kernels/compressor.hpp"

namespace gradcast::compressors {

extern constinit const Compressor dgc{
    .name = "dgc",
    .summary = "hierarchical sampling: a sample's top-k gives the threshold",
    .aggregation = Aggregation::AllGather,
    .source = "Lin et al., ICLR 2018",
};

}  // namespace gradcast::compressors
