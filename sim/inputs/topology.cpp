#include "sim/inputs/topology.hpp"

#include <limits>
#include <memory>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// The number of a link's upward direction; downward is the next.
using Duplex = std::uint32_t;
constexpr Duplex kNone = std::numeric_limits<Duplex>::max();

struct RankPlace {
  int node;
  Duplex gpu;
  Duplex nic;
};

struct NodePlace {
  Duplex pcie;
  int leaf;
  Seconds half_nic_latency;
  Seconds intra_latency;
};

struct LeafPlace {
  Duplex uplink;
  int pod;
};

/// The place of every rank, node and leaf. Routes are looked up in it.
struct Places {
  std::vector<RankPlace> ranks;
  std::vector<NodePlace> nodes;
  std::vector<LeafPlace> leaves;
  std::vector<Duplex> pods;
  Seconds message_latency;
  Seconds leaf_latency;
  Seconds pod_latency;
};

void append(std::vector<std::uint32_t>& links, Duplex link, std::uint32_t down) {
  if (link != kNone) links.push_back(link + down);
}

/// Appends the switches' links and returns what they add to the latency.
Seconds cross_switches(const Places& at, int from_leaf, int to_leaf,
                       std::vector<std::uint32_t>& links) {
  if (from_leaf == to_leaf) return Seconds{0};
  const LeafPlace& from = at.leaves[static_cast<std::size_t>(from_leaf)];
  const LeafPlace& to = at.leaves[static_cast<std::size_t>(to_leaf)];
  const bool pods = from.pod != to.pod;
  links.push_back(from.uplink);
  if (pods) {
    links.push_back(at.pods[static_cast<std::size_t>(from.pod)]);
    links.push_back(at.pods[static_cast<std::size_t>(to.pod)] + 1);
  }
  links.push_back(to.uplink + 1);
  return at.leaf_latency + (pods ? at.pod_latency : Seconds{0});
}

Seconds find_route(const Places& at, int from_rank, int to_rank,
                   std::vector<std::uint32_t>& links) {
  const RankPlace& from = at.ranks[static_cast<std::size_t>(from_rank)];
  const RankPlace& to = at.ranks[static_cast<std::size_t>(to_rank)];
  const NodePlace& from_node = at.nodes[static_cast<std::size_t>(from.node)];
  const NodePlace& to_node = at.nodes[static_cast<std::size_t>(to.node)];
  Seconds latency = at.message_latency;
  append(links, from.gpu, 0);
  append(links, from_node.pcie, 0);
  if (from.node == to.node) {
    latency += from_node.intra_latency;
  } else {
    links.push_back(from.nic);
    latency += from_node.half_nic_latency + to_node.half_nic_latency +
               cross_switches(at, from_node.leaf, to_node.leaf, links);
    links.push_back(to.nic + 1);
  }
  append(links, to_node.pcie, 1);
  append(links, to.gpu, 1);
  return latency;
}

/// Numbers links as it adds them.
class Builder {
 public:
  explicit Builder(const Cluster& cluster) : cluster_(cluster) {
    at_.message_latency = cluster.latency_factor * cluster.per_message_latency;
    at_.leaf_latency = cluster.latency_factor * cluster.leaf_uplink_latency;
    at_.pod_latency = cluster.latency_factor * cluster.pod_uplink_latency;
    for (int number = 0; number < cluster.nodes; ++number) add_node(number);
    if (cluster.nodes_per_leaf > 0) add_leaves();
  }

  Topology build() && {
    Topology topology;
    topology.links = std::move(links_);
    topology.ranks = cluster_.ranks();
    topology.nodes_alike = cluster_.nodes_alike() && at_.leaves.size() <= 1;
    topology.gpus_per_node = cluster_.gpus_per_node;
    topology.node_of.reserve(at_.ranks.size());
    for (const RankPlace& rank : at_.ranks) topology.node_of.push_back(rank.node);
    topology.route = [at = std::make_shared<const Places>(std::move(at_))](
                         int from, int to, std::vector<std::uint32_t>& links) {
      return find_route(*at, from, to, links);
    };
    return topology;
  }

 private:
  Duplex add(const std::string& name, BytesPerSecond bandwidth) {
    links_.push_back({name + ".up", bandwidth});
    links_.push_back({name + ".down", bandwidth});
    return static_cast<Duplex>(links_.size() - 2);
  }

  void add_node(int number) {
    const NodeProperties node = cluster_.node(number);
    const std::string name = "node" + std::to_string(number);
    const int leaf = cluster_.nodes_per_leaf > 0 ? number / cluster_.nodes_per_leaf : 0;
    const bool shares_pcie = node.pcie_bandwidth.value > 0;
    at_.nodes.push_back({shares_pcie ? add(name + ".pcie", node.pcie_bandwidth) : kNone, leaf,
                         node.nic.latency / 2, node.intra.latency});
    std::vector<Duplex> nics;
    nics.reserve(static_cast<std::size_t>(node.nics_per_node));
    for (int nic = 0; nic < node.nics_per_node; ++nic)
      nics.push_back(add(name + ".nic" + std::to_string(nic), node.nic.bandwidth));
    for (int gpu = 0; gpu < node.gpus_per_node; ++gpu)
      at_.ranks.push_back({number, add(name + ".gpu" + std::to_string(gpu), node.intra.bandwidth),
                           nics[static_cast<std::size_t>(gpu) % nics.size()]});
  }

  void add_leaves() {
    const int leaves = at_.nodes.back().leaf + 1;
    for (int leaf = 0; leaf < leaves; ++leaf)
      at_.leaves.push_back({add("leaf" + std::to_string(leaf), cluster_.leaf_uplink_bandwidth),
                            cluster_.leaves_per_pod > 0 ? leaf / cluster_.leaves_per_pod : 0});
    if (cluster_.leaves_per_pod == 0) return;
    for (int pod = 0; pod <= at_.leaves.back().pod; ++pod)
      at_.pods.push_back(add("pod" + std::to_string(pod), cluster_.pod_uplink_bandwidth));
  }

  const Cluster& cluster_;
  std::vector<TopologyLink> links_;
  Places at_;
};

}  // namespace

Topology make_topology(const Cluster& cluster) {
  if (!cluster.platform_file.empty())
    throw UsageError("'" + cluster.platform_file.string() +
                     "' is a platform of SimGrid's: only --engine simgrid can read it");
  return Builder(cluster).build();
}

LinkNames::LinkNames(const Topology& topology) {
  const auto add = [this](const std::string& word, const std::string& link) {
    std::vector<std::string>& meant = links_[word];
    if (meant.empty()) words_.push_back(word);
    meant.push_back(link);
  };
  for (const TopologyLink& link : topology.links) {
    if (link.name.ends_with(".up") || link.name.ends_with(".down"))
      add(link.name.substr(0, link.name.rfind('.')), link.name);
    add(link.name, link.name);
  }
}

const std::vector<std::string>& LinkNames::find(const std::string& name) const {
  const auto found = links_.find(name);
  if (found != links_.end()) return found->second;
  std::string what = "the cluster has no link '" + name + "'" + did_you_mean(name, words_);
  for (const std::string& word : words_)
    if (word == links_.at(word).front()) {  // a link, and not the word for both directions
      what += " (its first is '" + word + "')";
      break;
    }
  throw ValueError(what);
}

}  // namespace gradcast
