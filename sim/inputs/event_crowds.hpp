// Counts the events that go on at the same time.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/inputs/world.hpp"

namespace gradcast {

/// Events that act on the same thing, with the lines that they stand in.
class EventCrowds {
 public:
  void add(const std::string& target, const Period& period, std::size_t line);

  struct TooMany {
    std::string target;
    std::size_t line;  // of the event that is one too many
    Seconds at;
  };
  /// The first target on which more than `most` go on at the same time.
  std::optional<TooMany> beyond(std::size_t most) const;

 private:
  struct Event {
    Period period;
    std::size_t line;
  };
  std::map<std::string, std::vector<Event>> by_target_;
};

}  // namespace gradcast
