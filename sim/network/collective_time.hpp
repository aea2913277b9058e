// The time of a collective on a network that carries nothing else, in closed form.
#pragma once
#include <vector>

#include "sim/inputs/topology.hpp"
#include "sim/network/collective.hpp"

namespace gradcast {

/// The times that software adds to messages and collectives.
struct CollectiveSoftware {
  Seconds per_collective{0};             // before the first message
  BytesPerSecond reduction_bandwidth{};  // at which a rank adds up what it received; 0: at once
  Bytes eager_limit{};                   // from which on the receiver is asked; 0: never
  Seconds per_message{0};                // part of what an empty message takes
};

/// The latency of a message, with the protocol's part of a step; an empty one takes `one_way`
/// beside that. Between nodes, from the eager limit on, the sender first asks and waits for the
/// answer: one more round trip on the links, counted where the message arrives (rendezvous of MPI
/// and libfabric). Inside a node nobody asks.
Seconds latency_of(Bytes bytes, Seconds one_way, const CollectiveSoftware& software,
                   const Protocol& protocol, bool same_node);

/// The time before the first message: the software's of a collective, at least the protocol's.
Seconds begin_of(const std::vector<Phase>& phases, const CollectiveSoftware& software);

/// Reads these from a cluster's properties.
CollectiveSoftware software_of(const Cluster& cluster);

RankLayout layout_of(const Cluster& cluster);

/// The time of the phases, one after another. `sharing`: this many equal jobs do the same at the
/// same time.
Seconds collective_time(const std::vector<Phase>& phases, const Topology& topology,
                        const CollectiveSoftware& software, int sharing = 1);

/// The times of a collective, phase by phase.
struct CollectiveCourse {
  Seconds total{0};
  /// Time for which each phase's most loaded link is busy.
  std::vector<Seconds> flowing;
  /// Seconds by which each rank finishes before the last one (rank r: entry r modulo the size). It
  /// is then free for the next collective.
  std::vector<double> lead_seconds;
};

/// The same for ranks that begin before the last one by such leads, as in a collective right after
/// another. Empty: all begin together.
CollectiveCourse collective_course(const std::vector<Phase>& phases, const Topology& topology,
                                   const CollectiveSoftware& software, int sharing = 1,
                                   const std::vector<double>& lead_seconds = {});

}  // namespace gradcast
