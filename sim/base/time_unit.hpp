// Times for people: in the unit that fits. CSV and JSON have seconds.
#pragma once
#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradcast {

/// A unit for times that are shown together, as in a column.
struct TimeUnit {
  std::string_view name = "s";  // or "ms", "us"
  double per_second = 1;
  int digits = 4;  // after the point

  bool seconds() const { return per_second == 1; }
  std::string number(Seconds time) const;           // "0.4861", "12.3"
  std::string text(Seconds time) const;             // "12.3 ms"
  std::string headed(std::string_view what) const;  // "iteration ms"
};

/// The unit in which the shortest of the times has three significant digits: seconds from 0.1 s on,
/// with four digits after the point, milliseconds from 0.1 ms on, else microseconds.
TimeUnit unit_for(Seconds shortest);

/// One time by itself: "0.4861 s", "12.3 ms".
std::string time_text(Seconds time);

/// Finds the shortest of times; those of 0 do not count.
class Shortest {
 public:
  void add(Seconds time) {
    if (time > Seconds{0} && (shortest_ == Seconds{0} || time < shortest_)) shortest_ = time;
  }
  TimeUnit unit() const { return unit_for(shortest_); }

 private:
  Seconds shortest_{0};
};

}  // namespace gradcast
