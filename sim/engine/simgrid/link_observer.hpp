// Watches how much SimGrid's links carry.
#pragma once
#include <functional>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/engine/simgrid/network.hpp"
#include "sim/network/link_load.hpp"

namespace gradcast {

/// SimGrid shares the links again whenever its clock moves on, so their load is read then. There
/// may be one per process, because such callbacks can only be added.
class LinkObserver {
 public:
  /// `over`: true when nothing needs to be observed any more. The network must outlive it.
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
