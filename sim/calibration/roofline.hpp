// The table of `calibrate --roofline`: how close compressors come to the speed of the device's
// memory.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "kernels/floor_bytes.hpp"
#include "sim/answers/answer.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast {

struct RooflineEntry {
  CalibrationPoint point;
  BenchResult result;
};

/// The bytes an element that e = g + e moves: it reads two values and writes one.
inline constexpr double kCeilingBytes = kEncodeBytes;

/// The shares are of `encode`, whose inputs drift; warm and cold times stand beside it.
/// `ceilings`: the times of e = g + e, by elements; one for the elements of every entry. The share
/// of the ceiling is relative to the ceiling's time at the same size; what moves fewer bytes may
/// have more than 1. The share of the floor is relative to the fewest bytes that the encode can
/// move (kernels/floor_bytes.hpp), at the best bandwidth that any of the ceilings reached.
Answer roofline_answer(const std::vector<RooflineEntry>& entries,
                       const std::map<std::int64_t, BenchTiming>& ceilings);

}  // namespace gradcast
