// Splits the time of a measured iteration by its forecast. Parts that were measured themselves
// stand beside their forecasts.
#pragma once
#include <string>
#include <vector>

#include "sim/compare/comparison.hpp"

namespace gradcast {

struct SplitPart {
  std::string name;  // "exposed_communication"
  Seconds time{0};
  bool counted = true;  // among the parts that add up to the measured time
};

/// The parts: compute (forward, backward, update), encode and decode, exposed communication,
/// overhead and wait, unexplained. They add up to the measured time. A further part is hidden
/// communication, which overlaps with compute.
std::vector<SplitPart> split_of(const ComparedRun& compared);

/// A part that was measured by itself, beside its forecast.
struct MeasuredPart {
  std::string name;  // "encode" or "communication"
  Seconds measured{0};
  Seconds predicted{0};

  /// None if the measured time is 0, because no error can be relative to 0.
  std::optional<double> error_percent() const;
};

std::vector<MeasuredPart> measured_parts_of(const ComparedRun& compared);

}  // namespace gradcast
