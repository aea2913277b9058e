#include "sim/inputs/event_crowds.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace gradcast {

void EventCrowds::add(const std::string& target, const Period& period, std::size_t line) {
  by_target_[target].push_back({period, line});
}

std::optional<EventCrowds::TooMany> EventCrowds::beyond(std::size_t most) const {
  for (const auto& [target, all] : by_target_) {
    if (all.size() <= most) continue;
    std::vector<Event> events = all;
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.period.at < b.period.at; });
    std::size_t endless = 0;
    std::priority_queue<Seconds, std::vector<Seconds>, std::greater<>> ends;  // of those that go on
    for (const Event& event : events) {
      while (!ends.empty() && ends.top() <= event.period.at) ends.pop();
      if (event.period.lasting)
        ends.push(event.period.at + *event.period.lasting);
      else
        ++endless;
      if (ends.size() + endless > most) return TooMany{target, event.line, event.period.at};
    }
  }
  return std::nullopt;
}

}  // namespace gradcast
