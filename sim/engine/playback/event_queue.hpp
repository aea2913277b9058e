// A queue of events in order of time. Events that are due together keep the order in which they
// were added.
#pragma once
#include <algorithm>
#include <functional>
#include <utility>

#include "sim/base/units.hpp"
#include "sim/engine/playback/action.hpp"
#include "sim/engine/playback/agenda.hpp"

namespace gradcast {

class EventQueue {
 public:
  /// Called with its date whenever an event is added that is due before all others.
  std::function<void(Seconds)> on_earlier;

  Seconds now() const { return now_; }
  bool empty() const { return events_.empty(); }
  /// The date of the next event. The queue must not be empty.
  Seconds next() { return events_.next(); }

  void at(Seconds when, Action action) {
    when = std::max(when, now_);
    const bool earlier = on_earlier && (events_.empty() || when < events_.next());
    events_.add(when, std::move(action));
    if (earlier) on_earlier(when);
  }
  void in(Seconds delay, Action action) { at(now_ + delay, std::move(action)); }

  /// Runs all events that are due up to `when`.
  void advance_to(Seconds when) {
    while (!events_.empty() && events_.next() <= when) step();
    now_ = std::max(now_, when);
  }

  /// Runs all events.
  void run() {
    while (!events_.empty()) step();
  }

 private:
  void step() {
    now_ = events_.next();
    Action action = events_.take();
    action();
  }

  Seconds now_{0};
  Agenda<Action> events_;
};

}  // namespace gradcast
