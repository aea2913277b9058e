// Sends bytes in SimGrid, and drives the event queue by SimGrid's clock.
#pragma once
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/engine/playback/flow_network.hpp"

namespace gradcast {

/// It is event-driven and has no actors: messages start from timers and from completion callbacks.
/// That is the fastest of SimGrid's styles and gives the same times as the others. There may be one
/// per process, because completion callbacks can only be added.
class SimulatedFlows : public FlowNetwork {
 public:
  /// Both references must outlive it.
  SimulatedFlows(const simgrid::s4u::Engine& engine, std::vector<simgrid::s4u::Host*> hosts,
                 EventQueue& events);

  void send(int from, int to, Bytes bytes, EventQueue::Action sent) override;

  /// The same, but never faster than `most` (0: no limit).
  void send_at_most(BytesPerSecond most, int from, int to, Bytes bytes, EventQueue::Action sent);

  /// Sets the link's bandwidth from now on. `widest`: the most that it ever has.
  void set_bandwidth(simgrid::s4u::Link* link, double bandwidth, double widest);

  /// The bandwidth of the narrowest link from a rank to another, now.
  BytesPerSecond narrowest(int from, int to) const;

  /// Runs until no event is left.
  void run();

  /// Stops the run, whatever is still on its way.
  void stop() { stopped_ = true; }

 private:
  /// A message on its way. The comm is held until its callback has returned: SimGrid 3.32 keeps
  /// only a raw pointer.
  struct Flow {
    simgrid::s4u::CommPtr comm;
    EventQueue::Action sent;
  };

  /// SimGrid limits a message to the bandwidth that the narrowest link of its way has when the
  /// message starts, even if that link is wider later. It also ignores a rate that is set. So for
  /// the moment in which a message starts, links are given the widest bandwidth that they ever
  /// have, and the first link is given the rate.
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
