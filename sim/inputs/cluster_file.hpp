// Reads a cluster from its file.
#pragma once
#include "sim/base/text_file.hpp"
#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// Reads `platforms/<cluster>.csv`: property,value,source and (optional) deviation. Throws
/// DataError; bandwidths and shape must be there, what is left out of the others is 0 or, of a
/// node's NICs and speed, 1.
Cluster load_cluster(const TextFile& file);

}  // namespace gradcast
