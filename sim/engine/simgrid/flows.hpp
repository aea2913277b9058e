// Sends bytes in SimGrid, and drives the event queue by SimGrid's clock.
#pragma once
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "sim/engine/playback/event_queue.hpp"
#include "sim/engine/playback/flow_network.hpp"
#include "sim/engine/simgrid/network.hpp"

namespace gradcast {

/// It is event-driven and has no actors: messages start from timers and from completion callbacks.
/// That is the fastest of SimGrid's styles and gives the same times as the others. There may be one
/// per process, because completion callbacks can only be added.
class SimulatedFlows : public FlowNetwork {
 public:
  /// All references must outlive it.
  SimulatedFlows(const simgrid::s4u::Engine& engine, const SimulatedNetwork& network,
                 EventQueue& events);

  Way way(int from, int to) override;
  Way way_at_most(BytesPerSecond most, int from, int to) override;
  void send(Way way, Bytes bytes, Action sent) override;
  void set_bandwidth(std::size_t link, BytesPerSecond bandwidth, BytesPerSecond widest) override;
  BytesPerSecond narrowest(Way way) const override;
  void run() override;
  void stop() override { stopped_ = true; }

 private:
  /// A message on its way. The comm is held until its callback has returned: SimGrid 3.32 keeps
  /// only a raw pointer.
  struct Flow {
    simgrid::s4u::CommPtr comm;
    Action sent;
  };

  /// SimGrid limits a message to the bandwidth that the narrowest link of its way has when the
  /// message starts, even if that link is wider later. It also ignores a rate that is set. So for
  /// the moment in which a message starts, links are given the widest bandwidth that they ever
  /// have, and the first link is given the rate.
  struct Changing {
    double bandwidth;
    double widest;
  };

  struct Ends {
    simgrid::s4u::Host* from;
    simgrid::s4u::Host* to;
    BytesPerSecond most;  // 0: no limit
  };

  static std::vector<simgrid::s4u::Link*> links_of(const Ends& ends);
  void wake_at(Seconds when);
  void wake(Seconds when);
  void fail();
  void completed(const simgrid::s4u::Comm& comm);

  const simgrid::s4u::Engine& engine_;
  const SimulatedNetwork& network_;
  EventQueue& events_;
  std::vector<Ends> ways_;
  std::map<std::pair<int, int>, Way> known_ways_;  // without a limit, by both ranks
  std::deque<Flow> flows_;                         // at fixed addresses
  std::vector<Flow*> free_;                        // of flows_
  std::map<simgrid::s4u::Link*, Changing> changing_;
  std::optional<Seconds> alarm_;  // the date of the timer that counts
  bool stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace gradcast
