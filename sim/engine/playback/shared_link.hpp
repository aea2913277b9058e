// Collectives of one communicator that share a link, in closed form.
#pragma once
#include <vector>

#include "sim/engine/playback/event_queue.hpp"

namespace gradcast {

/// A link by processor sharing: n works whose bytes flow have 1/n of it each. Work waits first, for
/// latency and adding up, and the link is free meanwhile. Messages of collectives that begin
/// together wait together, too: two works of S seconds, F of them bytes, take S + F.
class SharedLink {
 public:
  /// `events` must outlive it.
  explicit SharedLink(EventQueue& events) : events_(events) {}

  /// Begins work whose bytes take so long alone; `over` is called when it ends.
  void begin(Seconds waiting, Seconds bytes, Action over);

 private:
  struct Work {
    Seconds left;  // if it were alone
    Action over;
  };

  void bring_up_to_date();
  void date_next();

  EventQueue& events_;
  std::vector<Work> works_;
  Seconds since_{0};   // when `left` was counted
  unsigned turn_ = 0;  // counts changes: an end that was planned before the last is void
};

}  // namespace gradcast
