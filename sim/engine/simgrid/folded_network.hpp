// One node that stands for all: what leaves it comes in again, as from the node before.
#pragma once
#include "sim/engine/simgrid/flows.hpp"
#include "sim/engine/simgrid/network.hpp"

namespace gradcast {

/// The network of one node, if nodes are alike and all that they send is the same from node to
/// node. Each link then carries what the same link of any other node does. So one node's links are
/// enough, with every message on the links that it passes of whichever node, and thousands of nodes
/// cost what one does.
///
/// Its hosts are four for each GPU of the node: those that messages leave from and arrive at,
/// inside the node and between nodes.
SimulatedNetwork fold_network(const simgrid::s4u::Engine& engine, const Cluster& cluster,
                              Topology topology);

/// Sends on such a network what goes from rank to rank.
class FoldedFlows : public FlowNetwork {
 public:
  /// `flows` must outlive it.
  FoldedFlows(SimulatedFlows& flows, int gpus_per_node) : flows_(flows), gpus_(gpus_per_node) {}

  Way way(int from, int to) override { return flows_.way(leaves(from, to), arrives(from, to)); }
  Way way_at_most(BytesPerSecond most, int from, int to) override {
    return flows_.way_at_most(most, leaves(from, to), arrives(from, to));
  }
  void send(Way way, Bytes bytes, Action sent) override {
    flows_.send(way, bytes, std::move(sent));
  }
  void set_bandwidth(std::size_t link, BytesPerSecond bandwidth, BytesPerSecond widest) override {
    flows_.set_bandwidth(link, bandwidth, widest);
  }
  BytesPerSecond narrowest(Way way) const override { return flows_.narrowest(way); }
  void run() override { flows_.run(); }
  void stop() override { flows_.stop(); }

 private:
  // Its hosts, by number.
  int leaves(int from, int to) const { return between_nodes(from, to) + from % gpus_; }
  int arrives(int from, int to) const { return 2 * gpus_ + between_nodes(from, to) + to % gpus_; }
  int between_nodes(int from, int to) const { return from / gpus_ == to / gpus_ ? 0 : gpus_; }

  SimulatedFlows& flows_;
  int gpus_;
};

}  // namespace gradcast
