// The links of a cluster, worked out from measured times of collectives.
#pragma once
#include "sim/import/imported.hpp"

namespace gradcast {

/// Sets the bandwidths and latencies with which the model meets the measured times on average: of a
/// NIC by the times on several nodes, inside nodes by those on one. The two largest sizes of each
/// collective and number of nodes decide the bandwidth, and the two smallest, up to 64 KiB, the
/// latency. Says in `sources` how; a value that has a source stays.
void derive_links(ImportedCluster& measured);

}  // namespace gradcast
