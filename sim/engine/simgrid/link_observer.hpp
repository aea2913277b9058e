// Watches how much SimGrid's links carry.
#pragma once
#include <functional>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/engine/simgrid/network.hpp"
#include "sim/network/link_load.hpp"

namespace gradcast {

/// SimGrid shares links out anew whenever its clock moves on, so that is when they are asked. One
/// per process: such callbacks can only be added.
class LinkObserver {
 public:
  /// `over`: nothing is of interest any more. The network must outlive it.
  LinkObserver(const SimulatedNetwork& network, std::function<bool()> over);

  BoundedLoads take(Seconds end) { return recorder_.take(end); }

 private:
  void time_advanced();

  std::vector<simgrid::s4u::Link*> links_;
  LoadRecorder recorder_;
  std::function<bool()> over_;
  Seconds since_{0};  // what the links carry now, they carry since then
};

}  // namespace gradcast
