// Events of links, and other traffic.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/engine/playback/active_periods.hpp"
#include "sim/engine/simgrid/flows.hpp"
#include "sim/engine/simgrid/network.hpp"
#include "sim/inputs/world.hpp"

namespace gradcast {

class Disturbances {
 public:
  /// Puts all of them into the event queue. `over`: true when no job is left to be disturbed. All
  /// arguments must outlive it. Throws ValueError for a link that does not exist.
  Disturbances(const World& world, const SimulatedNetwork& network, SimulatedFlows& flows,
               EventQueue& events, std::function<bool()> over);

 private:
  /// A link and what happens to it.
  struct Disturbed {
    simgrid::s4u::Link* link;
    double bandwidth;  // as it was
    double widest;     // that it ever is
    std::vector<LinkEvent> events;
    ActivePeriods active;  // of the events
  };

  void update(Disturbed& disturbed);
  void go_on(const BackgroundFlow& flow);

  SimulatedFlows& flows_;
  EventQueue& events_;
  std::map<std::string, Disturbed> links_;
  std::function<bool()> over_;
};

}  // namespace gradcast
