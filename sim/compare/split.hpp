// Where a measured iteration's time goes, by its forecast, and the parts that were measured
// themselves.
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

/// Compute (forward, backward, update), encode and decode, exposed communication, overhead and
/// wait, unexplained: together the measured time. And hidden communication, which lies under
/// compute.
std::vector<SplitPart> split_of(const ComparedRun& compared);

/// A part that was measured by itself, beside its forecast.
struct MeasuredPart {
  std::string name;  // "encode" or "communication"
  Seconds measured{0};
  Seconds predicted{0};

  /// None where nothing was measured to take no time: no error is relative to nothing.
  std::optional<double> error_percent() const;
};

std::vector<MeasuredPart> measured_parts_of(const ComparedRun& compared);

}  // namespace gradcast
