// Events around a job: ranks that slow down or pause, links that degrade or go down, other traffic,
// other jobs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"

namespace gradcast {

struct Cluster;

/// The period that begins at `at` and lasts for `lasting` (not given: for ever).
struct Period {
  Seconds at{0};
  std::optional<Seconds> lasting{};

  bool holds(Seconds now) const { return at <= now && (!lasting || now < at + *lasting); }
};

/// A rank computes at `speed` times its usual speed. At 0 it pauses: it neither computes nor enters
/// a collective, but what it has begun to send continues.
struct RankEvent {
  int rank = 0;
  Period period;
  double speed = 0;
};

/// A link has `share` of its bandwidth. At 0 it is down, and messages on it wait.
struct LinkEvent {
  std::string link;  // of Topology: "node1.nic0" is both directions, "node1.nic0.up" one
  Period period;
  double share = 0;
};

/// Traffic of others, from one rank's GPU to another's, for as long as the period and the job last.
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
  /// This many copies of the job run at the same time, each on its own GPUs, on the same network.
  int concurrent_jobs = 1;

  bool network_disturbed() const { return !links.empty() || !flows.empty(); }
};

/// Reads event,target,at,lasting,value. Throws DataError.
World load_events(const TextFile& file);

/// Reads the same for a cluster. Throws DataError also where an event names a rank or link that the
/// cluster does not have. (Links of a SimGrid platform are not known before it runs.)
World load_events(const TextFile& file, const Cluster& cluster);

/// Throws ValueError where an event names a rank or a link that does not exist.
void require_targets(const World& world, const Cluster& cluster);

}  // namespace gradcast
