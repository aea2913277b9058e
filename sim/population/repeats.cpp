#include "sim/population/repeats.hpp"

#include <algorithm>
#include <cmath>

#include "sim/plan/stack_use.hpp"

namespace gradcast {
namespace {

/// A set-up that is measured again may have its GPU timed again. Runs that compute so much longer
/// or shorter are of one kind, too (kOneKind of learning.cpp).
constexpr double kOneCompute = 0.015;

bool near(Seconds a, Seconds b) {
  return std::abs((a - b).count()) <= kOneCompute * std::max(a, b).count();
}

/// The request without what says only who chose it, and without what a dense run has no use for.
Request bare(const FitRow& row) {
  Request request = row.request;
  request.compute.reset();
  request.trace = request.trace_name();
  request.fusion_given = request.overlap_given = request.sharding_given = false;
  request.implementation.clear();
  if (!row.scenario.compresses()) {
    request.costs.clear();
    request.costs_device.clear();
    request.costs_of.clear();
    request.costs_folder.clear();
    request.density = 1;
    request.parameter.reset();
  }
  return request;
}

}  // namespace

bool is_repeat(const FitRow& a, const FitRow& b) {
  const MeasuredRun& one = a.run;
  const MeasuredRun& other = b.run;
  if (one.model != other.model || one.payload != other.payload || one.batch != other.batch ||
      one.cluster != other.cluster || one.nodes != other.nodes ||
      one.gpus_per_node != other.gpus_per_node || one.compressor != other.compressor ||
      !near(one.compute, other.compute))
    return false;
  if (a.scenario.compresses() && implementation_of(a.scenario) != implementation_of(b.scenario))
    return false;
  return bare(a) == bare(b);
}

std::vector<std::size_t> rows_but_repeats(const std::vector<FitRow>& rows, std::size_t row) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i != row && !is_repeat(rows[i], rows[row])) others.push_back(i);
  return others;
}

}  // namespace gradcast
