// Top-k: exact selection by magnitude, with error feedback.
#include "kernels/compressor.hpp"

namespace gradcast::compressors {

extern constinit const Compressor topk{
    .name = "topk",
    .summary = "the k elements largest in magnitude",
    .aggregation = Aggregation::AllGather,
    .source = "Aji & Heafield, EMNLP 2017",
};

}  // namespace gradcast::compressors
