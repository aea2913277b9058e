// The facts of several files of measurements, as those of one cluster.
#pragma once
#include <vector>

#include "sim/import/network/network_facts.hpp"

namespace gradcast {

/// The order of the files does not matter where they contradict each other: NCCL's word for its
/// network holds against iperf3's, and the faster link against the slower one. Of two networks that
/// NCCL names the last one counts. Notes say so. Throws UsageError where the files name two kinds
/// of GPU.
NetworkFacts joined(std::vector<NetworkFacts> files);

}  // namespace gradcast
