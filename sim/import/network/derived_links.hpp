// The links of a cluster, worked out from measured times of collectives.
#pragma once
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/inputs/collective_curve.hpp"

namespace gradcast {

/// The share of a NIC whose bandwidth is what collectives reach, and its source. 100 % would mean
/// that nobody says what sockets or stacks reach.
inline constexpr double kAllOfNic = 0.9999;
inline constexpr const char* kAllOfNicWords = "all: nic_bandwidth is what collectives reach";

/// Sets the bandwidths and latencies with which the model meets the measured times on average: of a
/// NIC by the times on several nodes, inside nodes by those on one. The two largest sizes of each
/// collective and number of nodes decide the bandwidth, and the two smallest, up to 64 KiB, the
/// latency. Where another link binds the times, a bandwidth is the least that carries them. A NIC
/// has a nominal rate, and a share of it that is reached. Says in `sources` how; a value that has a
/// source stays.
void derive_links(ImportedCluster& measured);

/// Bytes a second that leave a node in NCCL's fastest collective on several nodes, of 1 MiB or
/// more, by whatever algorithm; 0 for none. An all-reduce of N nodes sends 2 (N - 1) / N of its
/// bytes.
double least_leaving_node(const std::vector<CurvePoint>& points);

/// The least number of NICs of so many GPUs with which none carries more than 400 Gb/s, or 200 of
/// Slingshot.
int fewest_nics(double bytes_per_second, int gpus, NetworkKind kind);

}  // namespace gradcast
