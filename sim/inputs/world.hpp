// What goes on around a job: ranks that slow down or pause, links that degrade or go down, other
// traffic, other jobs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"

namespace gradcast {

struct Cluster;

/// From `at` on, for `lasting` (not given: for ever).
struct Period {
  Seconds at{0};
  std::optional<Seconds> lasting{};

  bool holds(Seconds now) const { return at <= now && (!lasting || now < at + *lasting); }
};

/// A rank computes at `speed` times its usual speed. At 0 it pauses: it neither computes nor comes
/// to a collective; what it has begun to send goes on.
struct RankEvent {
  int rank = 0;
  Period period;
  double speed = 0;
};

/// A link has `share` of its bandwidth; at 0 it is down, and what is on it waits.
struct LinkEvent {
  std::string link;  // of Topology: "node1.nic0" is both directions, "node1.nic0.up" one
  Period period;
  double share = 0;
};

/// Somebody else's bytes, from one rank's GPU to another's, for as long as the period and the job
/// last.
struct BackgroundFlow {
  int from = 0;
  int to = 0;
  Period period;
  BytesPerSecond most{};  // 0: as much as it gets
};

struct World {
  std::vector<RankEvent> ranks;
  std::vector<LinkEvent> links;
  std::vector<BackgroundFlow> flows;
  /// So many copies of the job run at the same time, on GPUs of their own and the same network.
  int concurrent_jobs = 1;

  bool network_disturbed() const { return !links.empty() || !flows.empty(); }
};

/// Reads event,target,at,lasting,value. Throws DataError.
World load_events(const TextFile& file);

/// The same for a cluster. Throws DataError also where an event is of a rank or link
/// that the cluster does not have. (Links of a SimGrid platform are not known before it runs.)
World load_events(const TextFile& file, const Cluster& cluster);

/// Throws ValueError where an event is of a rank or a link that is not there.
void require_targets(const World& world, const Cluster& cluster);

}  // namespace gradcast
