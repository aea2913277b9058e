#include "sim/base/time_unit.hpp"

#include "sim/base/table.hpp"

namespace gradcast {

std::string TimeUnit::number(Seconds time) const {
  return fixed(per_second * time.count(), digits);
}

std::string TimeUnit::text(Seconds time) const { return number(time) + " " + std::string(name); }

std::string TimeUnit::headed(std::string_view what) const {
  return std::string(what) + " " + std::string(name);
}

TimeUnit unit_for(Seconds shortest) {
  constexpr double kLeast = 0.1;  // of a unit
  const double time = shortest.count();
  if (time == 0 || time >= kLeast) return {};
  TimeUnit unit{"ms", 1e3, 0};
  if (time < kLeast * 1e-3) unit = {"us", 1e6, 0};
  const double shown = time * unit.per_second;
  unit.digits = shown >= 10 ? 1 : shown >= 1 ? 2 : 3;
  return unit;
}

std::string time_text(Seconds time) { return unit_for(time).text(time); }

}  // namespace gradcast
