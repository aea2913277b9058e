// Faults of a cluster as a whole, although each of its properties may be right.
#pragma once
#include <optional>
#include <string>

#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// A fault, and the property in which it shows.
struct ClusterFault {
  std::string property;
  std::string what;
};

/// The first fault found; nullopt if there is none. Faults are too many ranks (kMostAlikeRanks, or
/// kMostRanks if nodes differ), NICs or routes; an override of a node that does not exist; a
/// nic_share outside 0.1 % to 100 %; and a property that lacks another that it needs.
std::optional<ClusterFault> fault_of(const Cluster& cluster);

/// Throws ValueError where there is a fault.
void require_possible(const Cluster& cluster);

}  // namespace gradcast
