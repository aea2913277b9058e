// The links of a cluster that messages between ranks share.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// One direction of a link that messages share.
struct TopologyLink {
  std::string name;
  BytesPerSecond bandwidth;
  bool shared = true;  // else each message has all of it: a fat pipe of SimGrid's
};

/// The links that a message passes, and how long an empty message takes. It is built from a
/// Cluster, or from a platform that SimGrid read.
///
/// The names of a Cluster's links are the words of event files:
///   node3.gpu1.up  node3.pcie.up  node3.nic0.up  leaf2.up  pod1.up   and their .down
struct Topology {
  std::vector<TopologyLink> links{};
  int ranks = 0;
  /// True for one switch and equal nodes. A pattern that is the same for every node then loads all
  /// NICs equally.
  bool nodes_alike = false;
  int gpus_per_node = 1;       // where nodes are alike
  std::vector<int> node_of{};  // by rank
  /// Appends the links' numbers, in order. Returns the latency, including the software's latency of
  /// every message. Both ranks must exist and differ.
  std::function<Seconds(int from, int to, std::vector<std::uint32_t>& links)> route{};
};

/// Throws UsageError for a cluster that only SimGrid can read.
Topology make_topology(const Cluster& cluster);

/// Finds links by the words of event files. A file may have as many events as a cluster has links.
class LinkNames {
 public:
  explicit LinkNames(const Topology& topology);

  /// The links that a word names: "node1.nic0" names both directions. Throws ValueError where there
  /// is none.
  const std::vector<std::string>& find(const std::string& name) const;

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::vector<std::string>> links_;  // by word
};

}  // namespace gradcast
