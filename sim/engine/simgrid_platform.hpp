// Answers of SimGrid about a platform, for files that do not include SimGrid. Each answer comes
// from a child process, so that no state of SimGrid stays in this one.
#pragma once
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// A cluster whose network is the platform in SimGrid's XML; its hosts are nodes of one GPU. Throws
/// DataError for a platform that cannot be simulated, MissingError in a build without SimGrid.
Cluster load_xml_cluster(const TextFile& file);

/// The links that a message passes in SimGrid, by their names in the topology.
std::vector<std::string> simulated_route(const Cluster& cluster, int from, int to);

}  // namespace gradcast
