// The summary that `calibrate` prints when the cost table is done.
#pragma once
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/calibration/cost_file.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast {

/// A line for each compressor, mode, implementation, parameter, density and distribution of
/// `points`: the smallest and the largest size, the time of encode there, and what was selected of
/// the largest.
Answer summary_of(const CostFile& file, const std::vector<CalibrationPoint>& points);

}  // namespace gradcast
