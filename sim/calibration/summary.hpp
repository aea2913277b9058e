// What `calibrate` prints when the cost table stands.
#pragma once
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/calibration/cost_file.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast {

/// A line for each compressor, mode, implementation, density and distribution of `points`: from
/// which size to which, and what encode takes there.
Answer summary_of(const CostFile& file, const std::vector<CalibrationPoint>& points);

}  // namespace gradcast
