// The latencies of NCCL's tables, by version (src/graph/tuning.cc), or of one of RCCL's, in
// microseconds.
#pragma once
#include <array>
#include <cstddef>

#include "sim/network/nccl_rule.hpp"
#include "sim/network/rccl_tables.hpp"

namespace gradcast::nccl_tables {

inline constexpr std::size_t kProtocols = 3;
using ByProtocol = std::array<double, kProtocols>;  // LL, LL128, Simple

inline bool since(const NcclVersion& version, int minor, int patch = 0) {
  return version >= NcclVersion{2, minor, patch};
}

/// The library whose latencies are asked for: a version of NCCL, or a table of RCCL.
struct Library {
  NcclVersion version{};
  const RcclTable* rccl = nullptr;
};

/// Latency before the first step.
ByProtocol base_latency(const Library& library, NcclAlgorithm algorithm);
/// Latency of a step inside a node.
ByProtocol latency_inside(const Library& library, NcclAlgorithm algorithm, bool nvlink);
/// Latency of a step between nodes.
ByProtocol latency_between(const Library& library, NcclAlgorithm algorithm);
/// The host's time to post a network operation, which a ring's other steps wait for.
double post_overhead(const NcclMachine& machine, NcclProtocol protocol);

}  // namespace gradcast::nccl_tables
