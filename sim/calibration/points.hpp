// The points to measure: calls to be timed, and the rows of a cost table that they become.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "kernels/compressor.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_table.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

/// The elements of each tensor that one call handles.
using TensorSet = std::vector<std::int64_t>;

/// The matrices of the tensors of a set.
using ShapesOfSets = std::map<TensorSet, std::vector<MatrixShape>>;

/// A call to be timed, and the density from which its k are computed; 1 where nothing is selected.
struct CalibrationPoint {
  BenchPoint call;
  double density = 0;

  std::int64_t elements() const;
};

/// Every tensor of the models alone; the buckets that fusion makes of them (all in one, 25 MiB and
/// 64 MiB), as one tensor each; and each model's tensors in one call. Each set is there once, in
/// rising order.
std::vector<TensorSet> sets_of_models(const std::vector<Model>& models);

/// Shapes of the tensors of each model in one call, for models that have shapes.
ShapesOfSets shapes_of_models(const std::vector<Model>& models);

/// Each model as one tensor, and its tensors in one call.
std::vector<TensorSet> whole_models(const std::vector<Model>& models);

/// One tensor each of 1024 to 400 M elements.
std::vector<TensorSet> sweep_sets();

/// The sets of both, each once, in rising order.
std::vector<TensorSet> merged_sets(const std::vector<TensorSet>& sets,
                                   const std::vector<TensorSet>& more);

/// The lists to combine.
struct PointsAsked {
  std::vector<TensorSet> sets;
  ShapesOfSets shapes{};  // for sets of several tensors; a tensor alone is near square
  std::vector<const Compressor*> compressors;
  bool code_only = false;            // not the mode paper; of PowerSGD one rank
  std::vector<double> densities;     // for sparsifiers
  std::vector<double> parameters{};  // for compressors that take one; empty: its usual ones
  std::vector<Input> inputs;
  std::vector<ValueType> input_types{ValueType::Fp32};           // of gradients
  std::vector<std::shared_ptr<const RecordedInput>> recorded{};  // beside the inputs
  bool own_sizes = false;  // the recorded ones are timed whole, whatever the sets
  std::vector<int> workers;
  std::uint32_t seed = 1;
  bool warm_and_cold = false;  // as in BenchPoint
};

/// The device's abilities.
struct PointsOffered {
  std::function<std::vector<std::string>(const std::string& compressor, Mode mode)> implementations;
  std::function<std::int64_t(const BenchPoint& point)> memory_needed;
  std::int64_t memory_bytes = 0;
};

struct CalibrationPoints {
  std::vector<CalibrationPoint> points;  // in the order of measuring
  std::vector<std::string> notes;        // points left out, with the reason
};

/// All combinations, except those that are not defined, do not fit into the device's memory, or are
/// longer than a recorded vector. Only sparsifiers have a density.
CalibrationPoints make_points(const PointsAsked& asked, const PointsOffered& offered);

std::string input_text(Input input);
std::vector<std::string> input_names();
/// The name of a point's input, or of the file of a recorded vector.
std::string distribution_of(const BenchPoint& call);
/// Throws ValueError with a suggestion.
Input parse_input(std::string_view text);

/// "powersgd (code, rank 2)": the code that is timed, without its input. 0: no parameter.
std::string kind_text(const std::string& compressor, const std::string& mode, double parameter);

/// The fewest bytes that an encode of the point moves (kernels/floor_bytes.hpp).
double encode_floor_of(const BenchPoint& call);

/// The key of a row of a cost table: all its columns but those that were measured.
std::string key_of(const CostRow& row);

/// One row for each number of workers. Without a result, the rows have only their keys.
std::vector<CostRow> rows_of(const CalibrationPoint& point, const BenchResult* result);

}  // namespace gradcast
