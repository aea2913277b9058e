// The tables that `calibrate` prints: the summary of a cost table that is done, costs layer by
// layer (--per-layer), and costs beside the speed of memory (--roofline).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "kernels/floor_bytes.hpp"
#include "sim/answers/answer.hpp"
#include "sim/base/units.hpp"
#include "sim/calibration/cost_file.hpp"
#include "sim/calibration/points.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

/// A line for each compressor, mode, implementation, parameter, density and distribution of
/// `points`: the smallest and the largest size, the time of encode there, and what was selected of
/// the largest.
Answer summary_of(const CostFile& file, const std::vector<CalibrationPoint>& points);

/// The encode times of one compressor and implementation, by the elements of a tensor.
struct PerLayerColumn {
  std::string compressor;
  std::string mode;
  std::string implementation;
  std::map<std::int64_t, Seconds> encode;
  double parameter = 0;  // 0: it takes none

  std::string title() const;  // "gaussian (code), torch"
};

/// The cost of encoding, layer by layer, beside the layer's backward. A column may lack the times
/// of some sizes. The last row is the sum over all tensors. A share is relative to the backward of
/// the tensor's whole layer.
Answer per_layer_answer(const Model& model, const IterationTrace& trace,
                        const std::vector<PerLayerColumn>& columns);

struct RooflineEntry {
  CalibrationPoint point;
  BenchResult result;
};

/// The bytes an element that e = g + e moves: it reads two values and writes one.
inline constexpr double kCeilingBytes = kEncodeBytes;

/// Compares compressors with the speed of the device's memory. The shares are of `encode`, whose
/// inputs drift; warm and cold times stand beside it. `ceilings`: the times of e = g + e, by
/// elements; one for the elements of every entry. The share of the ceiling is relative to the
/// ceiling's time at the same size; an encode that moves fewer bytes may exceed 1. The share of the
/// floor is relative to the fewest bytes that the encode can move (kernels/floor_bytes.hpp), at the
/// best bandwidth that any of the ceilings reached.
Answer roofline_answer(const std::vector<RooflineEntry>& entries,
                       const std::map<std::int64_t, BenchTiming>& ceilings);

}  // namespace gradcast
