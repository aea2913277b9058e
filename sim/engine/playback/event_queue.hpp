// What is to happen, in order of time; what is due together, in the order it was put in.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast {

class EventQueue {
 public:
  using Action = std::function<void()>;

  /// Called with the date whenever something is put in that is due before all else.
  std::function<void(Seconds)> on_earlier;

  Seconds now() const { return now_; }
  bool empty() const { return events_.empty(); }
  /// When the next is due. Not of an empty one.
  Seconds next() const { return events_.front().when; }

  void at(Seconds when, Action action);
  void in(Seconds delay, Action action) { at(now_ + delay, std::move(action)); }

  /// Does all that is due by then.
  void advance_to(Seconds when);

  /// Does all there is.
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
