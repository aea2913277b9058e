// The flows of a phase that must be simulated, where some of them behave alike.
#pragma once
#include <vector>

#include "sim/inputs/topology.hpp"
#include "sim/network/collective.hpp"

namespace gradcast {

/// The other messages that may be on the links during the phase.
enum class Company {
  None,    // nothing, or copies of the same phase that begin with it
  Alike,   // other collectives of the same kind
  Folded,  // what is the same for all nodes, on a network that is folded to one
  Anyone,  // other kinds, traffic, or events that tell links apart
};

/// The numbers of messages that together take as long as the whole phase. If the phase is the same
/// for all nodes, these are the messages that one node sends; on a folded network it is. If nothing
/// else is on the network, they are those on the link that is busy longest. Otherwise they are all
/// messages.
std::vector<std::size_t> representatives(const Phase& phase, const Topology& topology,
                                         Company company);

}  // namespace gradcast
