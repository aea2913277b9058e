#include "sim/engine/playback/event_queue.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradcast {
namespace {

constexpr auto later = [](const auto& a, const auto& b) {
  return a.when > b.when || (a.when == b.when && a.number > b.number);
};

}  // namespace

void EventQueue::at(Seconds when, Action action) {
  when = std::max(when, now_);
  const bool earlier = events_.empty() || when < events_.front().when;
  events_.push_back({when, count_++, std::move(action)});
  std::push_heap(events_.begin(), events_.end(), later);
  if (earlier && on_earlier) on_earlier(when);
}

void EventQueue::step() {
  std::pop_heap(events_.begin(), events_.end(), later);
  Event event = std::move(events_.back());
  events_.pop_back();
  now_ = event.when;
  event.action();
}

void EventQueue::advance_to(Seconds when) {
  while (!events_.empty() && events_.front().when <= when) step();
  now_ = std::max(now_, when);
}

void EventQueue::run() {
  while (!events_.empty()) step();
}

}  // namespace gradcast
