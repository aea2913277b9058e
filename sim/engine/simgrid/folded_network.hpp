// One node that stands for all: what leaves it comes in again, as from the node before.
#pragma once
#include "sim/engine/simgrid/flows.hpp"
#include "sim/engine/simgrid/network.hpp"

namespace gradcast {

/// Where nodes are alike and all that they send is the same from node to node, each link carries
/// what the same link of any other node does. The links of one node are then enough, with every
/// message on the links that it passes of whichever node. So thousands of nodes cost what one does.
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

  void send(int from, int to, Bytes bytes, EventQueue::Action sent) override;

 private:
  SimulatedFlows& flows_;
  int gpus_;
};

}  // namespace gradcast
