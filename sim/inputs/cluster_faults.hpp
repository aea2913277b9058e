// What is wrong with a cluster as a whole, although each of its properties may be right.
#pragma once
#include <optional>
#include <string>

#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// What is wrong, and in which property it shows.
struct ClusterFault {
  std::string property;
  std::string what;
};

/// Where there are more ranks than kMostAlikeRanks, or kMostRanks where nodes differ, where an
/// override is of a node that is not there, and where a property lacks another that it needs.
/// nullopt where nothing is wrong.
std::optional<ClusterFault> fault_of(const Cluster& cluster);

/// Throws ValueError where there is a fault.
void require_possible(const Cluster& cluster);

}  // namespace gradcast
