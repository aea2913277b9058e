// The machines a job runs on: nodes of GPUs, one full-duplex NIC a node, one switch.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/text_file.hpp"
#include "sim/units.hpp"

namespace gradcast {

struct Link {
  BytesPerSecond bandwidth;
  Seconds latency{0};
};

struct Cluster {
  std::string name;
  int nodes = 1;
  int gpus_per_node = 1;
  /// Goodput of one long flow, and the time of an empty message one way from a GPU of one node to a
  /// GPU of another, through the switch: as a ping-pong between processes measures it.
  Link nic;
  /// The same between two GPUs of a node.
  Link intra;
  /// Software time that every iteration spends beside its work; 0 unless sourced.
  Seconds per_iteration_overhead{0};

  int ranks() const { return nodes * gpus_per_node; }
  /// Ranks are laid out node by node, so that in a ring only the edges between nodes cross a NIC.
  int node_of(int rank) const { return rank / gpus_per_node; }
  /// What one message from a rank to another passes when nothing stands in its way. Across nodes it
  /// is as fast as the slower of NIC and intra-node link.
  Link between(int rank, int other) const;
};

/// One property by its name in files and flags, as text.
struct ClusterProperty {
  std::string name;
  std::string value;
  std::string help{};  // what it is, with an example
};

/// More ranks than anybody trains with by data parallelism alone; what is kept of a run grows with
/// them.
inline constexpr int kMostRanks = 16'384;

/// Throws ValueError where there are more ranks than that.
void require_possible(const Cluster& cluster);

/// Every property with its value: what a result prints of its cluster.
std::vector<ClusterProperty> properties_of(const Cluster& cluster);

/// Throws ValueError for an unknown property or a value that is none.
void set_property(Cluster& cluster, std::string_view name, std::string_view value);

/// Reads `platforms/<cluster>.csv`: property,value,source. Throws DataError; bandwidths and shape
/// must be there, what is left out of the others is 0.
Cluster load_cluster(const TextFile& file);

}  // namespace gradcast
