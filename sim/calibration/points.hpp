// What is to be measured: calls to be timed, and the rows of a cost table that they become.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "kernels/compressor.hpp"
#include "sim/inputs/cost_table.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

/// Elements of the tensors that one call handles.
using TensorSet = std::vector<std::int64_t>;

/// A call to be timed, and the density that its k come from.
struct CalibrationPoint {
  BenchPoint call;
  double density = 0;

  std::int64_t elements() const;
};

/// Every tensor of the models alone; what fusing makes of them (all in one, 25 MiB and 64 MiB
/// buckets), as one tensor each; and each model's tensors in one call. None twice, rising.
std::vector<TensorSet> sets_of_models(const std::vector<Model>& models);

/// Each model as one tensor, and its tensors in one call.
std::vector<TensorSet> whole_models(const std::vector<Model>& models);

/// One tensor each of 1024 to 400 M elements.
std::vector<TensorSet> sweep_sets();

/// Both, none twice, rising.
std::vector<TensorSet> merged_sets(const std::vector<TensorSet>& sets,
                                   const std::vector<TensorSet>& more);

/// What to combine.
struct PointsAsked {
  std::vector<TensorSet> sets;
  std::vector<const Compressor*> compressors;
  bool code_only = false;  // of two modes
  std::vector<double> densities;
  std::vector<Input> inputs;
  std::vector<int> workers;
  std::uint32_t seed = 1;
};

/// What the device can.
struct PointsOffered {
  std::function<std::vector<std::string>(const std::string& compressor, Mode mode)> implementations;
  std::function<std::int64_t(const BenchPoint& point)> memory_needed;
  std::int64_t memory_bytes = 0;
};

struct CalibrationPoints {
  std::vector<CalibrationPoint> points;  // in the order of measuring
  std::vector<std::string> notes;        // what is left out, and why
};

/// All combinations but those that the device's memory does not hold or that are not defined.
CalibrationPoints make_points(const PointsAsked& asked, const PointsOffered& offered);

/// "paper", "code" or "".
std::string mode_text(Mode mode);
std::string input_text(Input input);
/// Throws ValueError with a suggestion.
Input parse_input(std::string_view text);

/// What tells rows of a cost table apart: everything but what was measured.
std::string key_of(const CostRow& row);

/// A row for each number of workers; without a result, rows that have only their keys.
std::vector<CostRow> rows_of(const CalibrationPoint& point, const BenchResult* result);

}  // namespace gradcast
