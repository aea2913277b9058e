// Collectives of one communicator that share a link, in closed form.
#pragma once
#include <vector>

#include "sim/engine/playback/event_queue.hpp"

namespace gradcast {

/// A link by processor sharing. Work alone on the link takes its seconds and keeps the link busy
/// for a share of them; latency and adding up take the rest. Works go at full speed while their
/// shares add up to 1 at most. Beyond that the link is shared fairly, and those that want more than
/// their part are slower. So the latency of one hides behind the bytes of another, and no two
/// exceed the link: works of S seconds, F of them busy, take max(S, n F) if n of them begin
/// together.
class SharedLink {
 public:
  /// `events` must outlive it.
  explicit SharedLink(EventQueue& events) : events_(events) {}

  /// Begins work; `over` is called when it ends, later or at once.
  void begin(Seconds alone, double busy_share, Action over);

 private:
  struct Work {
    Seconds left;  // at full speed
    double share;
    Action over;
    double rate = 1;
  };

  void bring_up_to_date();
  void share_out();
  void date_next();

  EventQueue& events_;
  std::vector<Work> works_;  // by share, ascending
  Seconds since_{0};         // when all of this was true
  unsigned turn_ = 0;        // a date that was made before anything changed has another
};

}  // namespace gradcast
