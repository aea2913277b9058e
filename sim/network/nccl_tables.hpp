// The latencies of NCCL's tables, by version (src/graph/tuning.cc), in microseconds.
#pragma once
#include <array>
#include <cstddef>

#include "sim/network/nccl_rule.hpp"

namespace gradcast::nccl_tables {

inline constexpr std::size_t kProtocols = 3;
using ByProtocol = std::array<double, kProtocols>;  // LL, LL128, Simple

inline bool since(const NcclVersion& version, int minor, int patch = 0) {
  return version >= NcclVersion{2, minor, patch};
}

/// Latency before the first step.
ByProtocol base_latency(const NcclVersion& version, NcclAlgorithm algorithm);
/// Latency of a step inside a node.
ByProtocol latency_inside(const NcclVersion& version, NcclAlgorithm algorithm, bool nvlink);
/// Latency of a step between nodes.
ByProtocol latency_between(const NcclVersion& version, NcclAlgorithm algorithm);
/// The host's time to post a network operation, which a ring's other steps wait for.
double post_overhead(const NcclMachine& machine, NcclProtocol protocol);

}  // namespace gradcast::nccl_tables
