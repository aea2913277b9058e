// How long a collective takes where nothing but its own messages stands in a message's way.
#pragma once
#include <vector>

#include "sim/inputs/topology.hpp"
#include "sim/network/collective.hpp"

namespace gradcast {

/// What the ends of a message add to it.
struct CollectiveSoftware {
  Seconds per_collective{0};             // before the first message
  BytesPerSecond reduction_bandwidth{};  // at which a rank adds up what it received; 0: at once
  Bytes eager_limit{};                   // from which on the receiver is asked; 0: never
  Seconds per_message{0};                // part of what an empty message takes
};

/// Of a message whose empty one takes `one_way`. From the eager limit on the sender asks first and
/// is answered: a round trip more on the links, told where the message arrives (MPI's rendezvous).
Seconds latency_of(Bytes bytes, Seconds one_way, const CollectiveSoftware& software);

/// Of a cluster's properties.
CollectiveSoftware software_of(const Cluster& cluster);

RankLayout layout_of(const Cluster& cluster);

/// Phases one after another. `sharing`: so many equal jobs do the same at the same time.
Seconds collective_time(const std::vector<Phase>& phases, const Topology& topology,
                        const CollectiveSoftware& software, int sharing = 1);

/// A collective phase by phase.
struct CollectiveCourse {
  Seconds total{0};
  /// By phase, how long its most loaded link is busy.
  std::vector<Seconds> flowing;
  /// How long before the last each rank is through (rank r: entry r modulo the size), and so free
  /// for the next collective.
  std::vector<double> lead_seconds;
};

/// The same for ranks that begin by such a lead before the last: those of a collective right after
/// another. Empty: all together.
CollectiveCourse collective_course(const std::vector<Phase>& phases, const Topology& topology,
                                   const CollectiveSoftware& software, int sharing = 1,
                                   const std::vector<double>& lead_seconds = {});

}  // namespace gradcast
