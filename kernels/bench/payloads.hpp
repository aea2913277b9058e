// The payloads with which decoding of casts and quantisers is timed.
#pragma once
#include <cstdint>

#include "kernels/bench/bench.hpp"
#include "kernels/compressor.hpp"

namespace gradcast {

/// Words of 4 bytes that one worker sends of all tensors of a point.
std::int64_t payload_words(const Packing& packing, const BenchPoint& point);

/// Every worker gets a copy of its own of what was encoded: how long a decode takes does not depend
/// on the codes, but on where they lie. More than WorkerSets::kMostBytes are not made: where the
/// workers are more, worker w has copy w % this number.
int distinct_payloads(const Packing& packing, const BenchPoint& point, int workers);

/// Bytes of these copies.
std::int64_t payload_bytes(const Packing& packing, const BenchPoint& point);

}  // namespace gradcast
