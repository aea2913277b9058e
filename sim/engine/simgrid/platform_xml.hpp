// Platforms in SimGrid's own XML.
#pragma once
#include <functional>

#include "sim/engine/simgrid/network.hpp"

namespace gradcast {

/// Reads the cluster's platform file: each host is a rank, in the natural order of names (host2
/// before host10). Latencies are taken from SimGrid's links and put into the topology. Throws
/// DataError.
SimulatedNetwork load_platform(const simgrid::s4u::Engine& engine, const Cluster& cluster);

/// Throws DataError where a host has no route to another. In large platforms not all pairs are
/// tried. SimGrid may also abort or crash, so `about_to_try` is called before each pair.
void require_routes(
    const SimulatedNetwork& network, const std::string& path,
    const std::function<void(const std::string&, const std::string&)>& about_to_try);

}  // namespace gradcast
