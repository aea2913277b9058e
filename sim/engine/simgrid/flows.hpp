// Bytes on their way in SimGrid, and its clock for the event queue.
#pragma once
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/engine/playback/flow_network.hpp"

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

  /// From now on the link has so much. `widest`: the most that it ever has.
  void set_bandwidth(simgrid::s4u::Link* link, double bandwidth, double widest);

  /// Of the narrowest link from a rank to another, now.
  BytesPerSecond narrowest(int from, int to) const;

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

  /// SimGrid never lets a message pass faster than the narrowest link of its way is when it starts,
  /// not even when that link is wider later; and overlooks a rate that is set. So links are shown
  /// to it, for the moment in which it starts, as wide as they ever are, and the first as narrow as
  /// the rate.
  struct Changing {
    double bandwidth;
    double widest;
  };

  std::vector<simgrid::s4u::Link*> way(int from, int to) const;
  void wake_at(Seconds when);
  void wake(Seconds when);
  void fail();
  void completed(const simgrid::s4u::Comm& comm);

  const simgrid::s4u::Engine& engine_;
  std::vector<simgrid::s4u::Host*> hosts_;
  EventQueue& events_;
  std::deque<Flow> flows_;   // at fixed addresses
  std::vector<Flow*> free_;  // of flows_
  std::map<simgrid::s4u::Link*, Changing> changing_;
  std::optional<Seconds> alarm_;  // the date of the timer that counts
  bool stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace gradcast
