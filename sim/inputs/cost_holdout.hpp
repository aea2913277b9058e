// How far off interpolation is in a cost table: each inner point, predicted from the others of its
// line.
#pragma once
#include <string>

#include "sim/base/statistics.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {

struct HoldOut {
  ErrorSummary errors{};      // its `rows` are the predictions, of encode and of decode times
  std::string worst_where{};  // "topk gradcast-cuda, encode of 8192 elements at density 0.001"
};

/// A line is what a compressor, mode, implementation and distribution cost for one number of
/// workers: of one density along the sizes, or of one size along the densities. The smallest and
/// the largest of a line are not predicted. Around a point that is left out the gap is as wide as
/// two, so interpolation between the points that are there is better than this. Rows of several
/// tensors in one call are left alone: nothing is interpolated between their sizes.
HoldOut held_out_error(const CostTable& table);

}  // namespace gradcast
