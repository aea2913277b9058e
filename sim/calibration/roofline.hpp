// How near a device's memory lets a compressor come: the table of `calibrate --roofline`.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "sim/answers/answer.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast {

struct RooflineEntry {
  CalibrationPoint point;
  BenchResult result;
};

/// What e = g + e moves: read both, write one.
inline constexpr double kCeilingBytes = 12;

/// `ceilings`: e = g + e, by elements; one for every entry's elements. The share of the ceiling is
/// of the ceiling's time at the same size; the share of the floor is of 12 bytes an element at the
/// best bandwidth that any of the ceilings reached.
Answer roofline_answer(const std::vector<RooflineEntry>& entries,
                       const std::map<std::int64_t, BenchTiming>& ceilings);

}  // namespace gradcast
