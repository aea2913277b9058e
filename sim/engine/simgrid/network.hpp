// The modelled cluster in SimGrid.
#pragma once
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "sim/inputs/cluster.hpp"
#include "sim/inputs/topology.hpp"

namespace gradcast {

/// SimGrid shares the links, which have no latency there. Whoever starts a message waits for the
/// latency that `topology` gives.
struct SimulatedNetwork {
  std::vector<simgrid::s4u::Host*> hosts;  // by rank
  Topology topology;
  std::vector<double> speeds;  // by rank, 1 as the trace says
};

/// Sets SimGrid's network model. Must be called once per process, after the Engine and before the
/// first zone.
void configure_simgrid();

/// Builds the cluster, or reads its platform file. Throws DataError for a file that is wrong.
SimulatedNetwork build_network(const simgrid::s4u::Engine& engine, const Cluster& cluster);

/// Finds one direction of a link by its name in the topology; nullptr where there is none.
simgrid::s4u::Link* find_link(const std::string& name);

}  // namespace gradcast
