// The modelled cluster in SimGrid.
#pragma once
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/cluster.hpp"

namespace gradcast {

/// Sets SimGrid's network model. After the Engine, before the first zone, once a process.
void configure_simgrid();

/// Builds the cluster; returns the host of each rank.
std::vector<simgrid::s4u::Host*> build_network(const simgrid::s4u::Engine& engine,
                                               const Cluster& cluster);

}  // namespace gradcast
