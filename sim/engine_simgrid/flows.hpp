// Bytes on their way in SimGrid, and its clock for the event queue.
#pragma once
#include <deque>
#include <exception>
#include <optional>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/playback/flow_network.hpp"

namespace gradcast {

/// Event-driven and without actors: messages start from timers and from completion callbacks. That
/// is the fastest of SimGrid's styles and gives the times of the others. One per process, since
/// completion callbacks can only be added.
class SimulatedFlows : public FlowNetwork {
 public:
  /// Both must outlive it.
  SimulatedFlows(const simgrid::s4u::Engine& engine, std::vector<simgrid::s4u::Host*> hosts,
                 EventQueue& events);

  void send(int from, int to, Bytes bytes, EventQueue::Action sent) override;

  /// The same, never faster than `most` (0: as fast as can be).
  void send_at_most(BytesPerSecond most, int from, int to, Bytes bytes, EventQueue::Action sent);

  /// Until nothing is left to happen.
  void run();

  /// Nothing happens any more, whatever is still on its way.
  void stop() { stopped_ = true; }

 private:
  /// A message on its way. The comm is held until its callback has returned: SimGrid 3.32 keeps
  /// only a raw pointer.
  struct Flow {
    simgrid::s4u::CommPtr comm;
    EventQueue::Action sent;
  };

  void wake_at(Seconds when);
  void wake(Seconds when);
  void fail();
  void completed(const simgrid::s4u::Comm& comm);

  const simgrid::s4u::Engine& engine_;
  std::vector<simgrid::s4u::Host*> hosts_;
  EventQueue& events_;
  std::deque<Flow> flows_;        // at fixed addresses
  std::vector<Flow*> free_;       // of flows_
  std::optional<Seconds> alarm_;  // the date of the timer that counts
  bool stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace gradcast
