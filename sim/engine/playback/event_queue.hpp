// A queue of events in order of time. Events that are due together keep the order in which they
// were added.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast {

class EventQueue {
 public:
  using Action = std::function<void()>;

  /// Called with its date whenever an event is added that is due before all others.
  std::function<void(Seconds)> on_earlier;

  Seconds now() const { return now_; }
  bool empty() const { return events_.empty(); }
  /// The date of the next event. The queue must not be empty.
  Seconds next() const { return events_.front().when; }

  void at(Seconds when, Action action);
  void in(Seconds delay, Action action) { at(now_ + delay, std::move(action)); }

  /// Runs all events that are due up to `when`.
  void advance_to(Seconds when);

  /// Runs all events.
  void run();

 private:
  struct Event {
    Seconds when;
    std::uint64_t number;
    Action action;
  };
  void step();

  Seconds now_{0};
  std::uint64_t count_ = 0;
  std::vector<Event> events_;  // a heap, the next on top
};

}  // namespace gradcast
