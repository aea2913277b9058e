// The error of interpolation in a cost table. Each inner point is predicted from the others of its
// line.
#pragma once
#include <string>

#include "sim/base/statistics.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {

struct HoldOut {
  ErrorSummary errors{};      // its `rows` are the predictions, of encode and of decode times
  std::string worst_where{};  // "topk gradcast-cuda, encode of 8192 elements at density 0.001"
};

/// A line has the costs of one compressor, mode, implementation and distribution for one number of
/// workers: at one density along the sizes, or at one size along the densities. The smallest and
/// the largest of a line are not predicted. The gap around a point that is left out is two steps
/// wide, so interpolation between the points of the table is better than this. Rows of several
/// tensors in one call are ignored, because nothing is interpolated between their sizes.
HoldOut held_out_error(const CostRows& rows);
HoldOut held_out_error(const CostTable& table);

}  // namespace gradcast
