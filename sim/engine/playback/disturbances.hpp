// Events of links, and other traffic.
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "sim/engine/playback/active_periods.hpp"
#include "sim/engine/playback/event_queue.hpp"
#include "sim/engine/playback/flow_network.hpp"
#include "sim/inputs/topology.hpp"
#include "sim/inputs/world.hpp"

namespace gradcast {

class Disturbances {
 public:
  /// Puts all of them into the event queue. `over`: true when no job is left to be disturbed. All
  /// arguments must outlive it. Throws ValueError for a link that does not exist.
  Disturbances(const World& world, const Topology& topology, FlowNetwork& network,
               EventQueue& events, std::function<bool()> over);

 private:
  /// A link and what happens to it.
  struct Disturbed {
    double bandwidth = 0;  // as it was
    double widest = 0;     // that it ever is
    std::vector<LinkEvent> events{};
    ActivePeriods active{};  // of the events
  };

  void disturb_links(const World& world, const Topology& topology);
  void update(std::size_t link, Disturbed& disturbed);
  void go_on(const BackgroundFlow& flow, FlowNetwork::Way way);

  FlowNetwork& network_;
  EventQueue& events_;
  std::map<std::size_t, Disturbed> links_;  // by number in the topology
  std::function<bool()> over_;
};

}  // namespace gradcast
