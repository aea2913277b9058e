// Which of a phase's flows have to be simulated, where nothing tells some of them apart.
#pragma once
#include <vector>

#include "sim/inputs/topology.hpp"
#include "sim/network/collective.hpp"

namespace gradcast {

/// What else may be on the links while the phase lasts.
enum class Company {
  None,    // nothing, or copies of the same phase that begin with it
  Alike,   // other collectives of the same kind
  Anyone,  // other kinds, traffic, or events that tell links apart
};

/// Messages, by number, that take as long together as all of the phase do: those that one node
/// sends, where the phase is the same for all nodes; where nothing else is on the network, those on
/// the link that is busy longest; else all.
std::vector<std::size_t> representatives(const Phase& phase, const Topology& topology,
                                         Company company);

}  // namespace gradcast
