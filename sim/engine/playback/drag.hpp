// Drag of computing on collectives: both want the same multiprocessors and memory.
#pragma once
#include <cstddef>
#include <map>
#include <vector>

#include "sim/engine/playback/event_queue.hpp"

namespace gradcast {

/// Lengthens the collectives of one rank by what it computed meanwhile. While the rank computes, a
/// collective goes on at 1 / (1 + slowdown) of its speed. The network is played at full speed.
/// Whatever is left when the network is through follows then, and the collective is over after
/// that.
class Drag {
 public:
  Drag() = default;
  /// `events` must outlive it. A slowdown of 0 changes nothing.
  Drag(double slowdown, EventQueue& events) : slowdown_(slowdown), events_(&events) {}

  /// Whether the rank computes from now on.
  void computing(bool yes);
  /// A collective begins on the network.
  void begin(std::size_t step);
  /// A collective ended on the network. `over` is called when it is over: at once, or later.
  void end(std::size_t step, Action over);

 private:
  struct Rest {
    Seconds left;  // at full speed
    Action over;
  };

  double rate() const { return computes_ ? 1 / (1 + slowdown_) : 1; }
  void bring_up_to_date();
  std::vector<Rest>::iterator first_over();
  void date_next();

  double slowdown_ = 0;
  EventQueue* events_ = nullptr;
  bool computes_ = false;
  Seconds since_{0};                      // when all below was true
  Seconds computed_{0};                   // in all, up to then
  std::map<std::size_t, Seconds> begun_;  // by step: what was computed when it began
  std::vector<Rest> rests_;
  unsigned turn_ = 0;  // a date that was made before anything changed has another
};

}  // namespace gradcast
