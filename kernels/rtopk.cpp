// rTop-k: the r largest in magnitude, then a random k of them.
#include "kernels/compressor.hpp"

namespace gradcast::compressors {

extern constinit const Compressor rtopk{
    .name = "rtopk",
    .summary = "top r by magnitude, then k of them at random",
    .aggregation = Aggregation::AllGather,
    .source = "Barnes et al., arXiv 2005.10761",
};

}  // namespace gradcast::compressors
