// What SimGrid knows of a platform, for those who do not include it. Each answer comes from a child
// process, so that nothing of SimGrid stays behind.
#pragma once
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// A cluster whose network is the platform in SimGrid's XML; its hosts are nodes of one GPU. Throws
/// DataError for a platform that cannot be simulated, MissingError in a build without SimGrid.
Cluster load_xml_cluster(const TextFile& file);

/// The names of the links that a message passes in SimGrid, as the topology calls them.
std::vector<std::string> simulated_route(const Cluster& cluster, int from, int to);

}  // namespace gradcast
