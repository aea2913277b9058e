#include "sim/calibration/points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "kernels/floor_bytes.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/calibration/meter.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/fusion.hpp"

namespace gradcast {
namespace {

std::int64_t sum(const TensorSet& set) {
  return std::accumulate(set.begin(), set.end(), std::int64_t{0});
}

TensorSet all_tensors(const Model& model) {
  TensorSet set;
  for (const GradientTensor& tensor : model.tensors) set.push_back(tensor.elements);
  return set;
}

/// Sets that have different rows in a cost table: different numbers of tensors or of elements.
class Sets {
 public:
  void add(const TensorSet& set) { sets_.try_emplace({sum(set), set.size()}, set); }
  std::vector<TensorSet> all() const {
    std::vector<TensorSet> sets;
    for (const auto& [key, set] : sets_) sets.push_back(set);
    return sets;
  }

 private:
  std::map<std::pair<std::int64_t, std::size_t>, TensorSet> sets_;
};

std::vector<Mode> modes_of(const Compressor& compressor, bool code_only) {
  if (!compressor.two_modes) return {Mode::Only};
  if (code_only) return {Mode::Code};
  return {Mode::Paper, Mode::Code};
}

/// Ranks that are timed where none is asked for: those of the tables that are derived.
constexpr double kRanks[] = {1, 2, 4};

std::vector<double> parameters_of(const Compressor& compressor, const PointsAsked& asked) {
  if (!asked.parameters.empty() && !compressor.parameter.name.empty() &&
      !compressor.parameter.selects)
    return asked.parameters;
  if (compressor.family == Family::LowRank && !asked.code_only)
    return {std::begin(kRanks), std::end(kRanks)};
  return {cost_parameter(compressor, compressor.parameter.usual)};
}

/// The contents of tensors, and the sets of tensors to fill with them.
struct Source {
  Input input = Input::normal;
  std::shared_ptr<const RecordedInput> recorded;
  std::vector<TensorSet> sets;
};

std::vector<Source> sources_of(const PointsAsked& asked) {
  std::vector<Source> sources;
  for (const Input input : asked.inputs) sources.push_back({input, nullptr, asked.sets});
  for (const auto& recorded : asked.recorded) {
    const TensorSet whole{static_cast<std::int64_t>(recorded->u.size())};
    sources.push_back(
        {Input::normal, recorded, asked.own_sizes ? std::vector<TensorSet>{whole} : asked.sets});
  }
  return sources;
}

/// The authors' DGC in PyTorch raises an error above this density: its sample has too few elements.
constexpr double kMostOfDgcCode = 0.01;

/// The sizes that were left out: one line for each reason.
class LeftOut {
 public:
  void add(const std::string& why, std::int64_t elements) { sizes_[why].insert(elements); }
  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (const auto& [why, sizes] : sizes_) {
      std::vector<std::string> words;
      for (const std::int64_t size : sizes) words.push_back(std::to_string(size));
      notes.push_back(why + ", so not measured: " + join(words) + " elements");
    }
    return notes;
  }

 private:
  std::map<std::string, std::set<std::int64_t>> sizes_;
};

/// Seconds to tenths of a nanosecond: finer than any clock here.
Seconds rounded(double seconds) { return Seconds{std::round(seconds * 1e10) / 1e10}; }

}  // namespace

std::int64_t CalibrationPoint::elements() const { return sum(call.tensors); }

std::vector<TensorSet> sets_of_models(const std::vector<Model>& models) {
  Sets sets;
  for (const Model& model : models) {
    for (const char* fusion : {"layer", "merged", "25MiB", "64MiB"})
      for (const Bucket& bucket : make_buckets(model, parse_fusion(fusion)))
        sets.add({bucket.elements});
    sets.add(all_tensors(model));
  }
  return sets.all();
}

std::vector<TensorSet> whole_models(const std::vector<Model>& models) {
  Sets sets;
  for (const Model& model : models) {
    sets.add({model.elements()});
    sets.add(all_tensors(model));
  }
  return sets.all();
}

std::vector<TensorSet> sweep_sets() {
  std::vector<TensorSet> sets;
  for (std::int64_t elements = 1024; elements <= std::int64_t{4} << 20; elements *= 4)
    sets.push_back({elements});
  for (const std::int64_t elements :
       {25'557'032, 42'000'000, 61'000'000, 100'000'000, 138'000'000, 200'000'000, 400'000'000})
    sets.push_back({elements});
  return sets;
}

std::vector<TensorSet> merged_sets(const std::vector<TensorSet>& sets,
                                   const std::vector<TensorSet>& more) {
  Sets merged;
  for (const TensorSet& set : sets) merged.add(set);
  for (const TensorSet& set : more) merged.add(set);
  return merged.all();
}

ShapesOfSets shapes_of_models(const std::vector<Model>& models) {
  ShapesOfSets shapes;
  for (const Model& model : models) {
    if (!model.has_shapes()) continue;
    std::vector<MatrixShape>& of_model = shapes[all_tensors(model)];
    of_model.clear();
    for (const GradientTensor& tensor : model.tensors) {
      const std::int64_t rows = tensor.shape.empty() ? tensor.elements : tensor.shape.front();
      of_model.push_back({rows, tensor.elements / rows});
    }
  }
  return shapes;
}

namespace {

/// Combines what was asked for.
class PointMaker {
 public:
  PointMaker(const PointsAsked& asked, const PointsOffered& offered)
      : asked_(asked), offered_(offered) {}

  CalibrationPoints made() {
    // Neighbours in the order share their input, so that a device may keep it.
    for (const Source& source : sources_of(asked_))
      for (const TensorSet& set : source.sets) {
        for (const double density : asked_.densities)
          for (const Compressor* compressor : asked_.compressors)
            if (selects(*compressor)) add_calls(source, set, density, *compressor);
        for (const Compressor* compressor : asked_.compressors)
          if (!selects(*compressor)) add_calls(source, set, 1, *compressor);
      }
    made_.notes.assign(notes_.begin(), notes_.end());
    for (const std::string& note : left_out_.notes()) made_.notes.push_back(note);
    return std::move(made_);
  }

 private:
  static bool selects(const Compressor& compressor) {
    return compressor.family == Family::Sparsifier;
  }

  void add_calls(const Source& source, const TensorSet& set, double density,
                 const Compressor& compressor) {
    for (const Mode mode : modes_of(compressor, asked_.code_only)) {
      if (compressor.rule == Rule::Dgc && mode == Mode::Code && density > kMostOfDgcCode) {
        notes_.insert(
            "dgc in mode code is not measured above density 0.01: the authors' code "
            "raises an error there");
        continue;
      }
      const std::string name(compressor.name);
      const auto implementations = offered_.implementations(name, mode);
      if (implementations.empty()) notes_.insert("nothing on this device runs '" + name + "'");
      for (const std::string& implementation : implementations)
        for (const auto& [type, parameter] : types_and_parameters_of(compressor)) {
          CalibrationPoint point;
          point.density = density;
          point.call.compressor = name;
          point.call.mode = mode;
          point.call.implementation = implementation;
          point.call.parameter = parameter;
          point.call.input = source.input;
          point.call.input_type = type;
          point.call.recorded = source.recorded;
          point.call.tensors = set;
          point.call.workers = asked_.workers;
          point.call.seed = asked_.seed;
          point.call.warm_and_cold = asked_.warm_and_cold;
          add(std::move(point), compressor);
        }
    }
  }

  std::vector<std::pair<ValueType, double>> types_and_parameters_of(
      const Compressor& compressor) const {
    std::vector<std::pair<ValueType, double>> both;
    for (const ValueType type : asked_.input_types)
      for (const double parameter : parameters_of(compressor, asked_))
        both.emplace_back(type, parameter);
    return both;
  }

  void add(CalibrationPoint point, const Compressor& compressor) {
    BenchPoint& call = point.call;
    const bool torch = call.implementation == kTorch;
    const bool own_kernels =
        call.implementation.starts_with("gradcast") && call.implementation != kCpuImplementation;
    if (call.input_type != ValueType::Fp32 && !own_kernels) {
      notes_.insert(call.implementation + " is timed on fp32 gradients only");
      return;
    }
    for (const std::int64_t elements : call.tensors)
      call.wanted.push_back(wanted_elements(elements, point.density));
    if (torch && call.recorded)
      notes_.insert("torch is not timed on recorded vectors");
    else if (torch && compressor.parameter.selects)
      notes_.insert("torch is not timed for " + call.compressor);
    else if (torch && !selects(compressor))
      notes_.insert("torch is timed for sparsifiers only");
    else if (compressor.family == Family::LowRank && !add_shapes(call))
      left_out_.add(call.compressor + " needs the shapes of a model's tensors for all in one call",
                    point.elements());
    else if (call.recorded && static_cast<std::size_t>(point.elements()) > call.recorded->u.size())
      left_out_.add(
          call.recorded->name + " has " + std::to_string(call.recorded->u.size()) + " elements",
          point.elements());
    else if (point.elements() > std::numeric_limits<std::int32_t>::max())
      left_out_.add("a cost table counts to 2^31 - 1 elements", point.elements());
    else if (offered_.memory_needed(call) > offered_.memory_bytes)
      left_out_.add("needs more memory than this device has free", point.elements());
    else
      made_.points.push_back(std::move(point));
  }

  /// A cost table knows a tensor alone by its elements, whatever its shape: it is near square, as
  /// in the tables that are derived.
  bool add_shapes(BenchPoint& call) const {
    if (call.tensors.size() == 1) {
      call.shapes = {near_square(call.tensors.front())};
      return true;
    }
    const auto found = asked_.shapes.find(call.tensors);
    if (found == asked_.shapes.end()) return false;
    call.shapes = found->second;
    return true;
  }

  const PointsAsked& asked_;
  const PointsOffered& offered_;
  CalibrationPoints made_;
  LeftOut left_out_;
  std::set<std::string> notes_;
};

}  // namespace

CalibrationPoints make_points(const PointsAsked& asked, const PointsOffered& offered) {
  return PointMaker(asked, offered).made();
}

namespace {

constexpr std::string_view kInputNames[] = {
#define GRADCAST_INPUT_NAME(name, what) #name,
    GRADCAST_INPUTS(GRADCAST_INPUT_NAME)
#undef GRADCAST_INPUT_NAME
};

}  // namespace

std::string input_text(Input input) {
  return std::string(kInputNames[static_cast<std::size_t>(input)]);
}

std::vector<std::string> input_names() { return {std::begin(kInputNames), std::end(kInputNames)}; }

std::string distribution_of(const BenchPoint& call) {
  return call.recorded ? call.recorded->name : input_text(call.input);
}

Input parse_input(std::string_view text) {
  const auto* const found = std::find(std::begin(kInputNames), std::end(kInputNames), text);
  if (found != std::end(kInputNames)) return static_cast<Input>(found - std::begin(kInputNames));
  const std::vector<std::string> known = input_names();
  throw ValueError("unknown distribution '" + std::string(text) + "'" + did_you_mean(text, known) +
                   " (known: " + join(known) + ")");
}

std::string kind_text(const std::string& compressor, const std::string& mode, double parameter) {
  std::vector<std::string> words;
  if (!mode.empty()) words.push_back(mode);
  // A name from a file may be anything.
  if (const Compressor* known = find_compressor(compressor); known != nullptr && parameter != 0)
    words.push_back(parameter_text(*known, parameter));
  return compressor + (words.empty() ? "" : " (" + join(words) + ")");
}

double encode_floor_of(const BenchPoint& call) {
  const Compressor& compressor = known_compressor(call.compressor);
  double bytes = 0;
  for (std::size_t t = 0; t < call.tensors.size(); ++t)
    bytes += compressor.family == Family::LowRank
                 ? encode_floor_bytes({.shape = call.shapes.at(t),
                                       .rank = static_cast<std::int64_t>(call.parameter),
                                       .mode = call.mode})
                 : encode_floor_bytes(compressor, call.parameter, call.tensors[t]);
  return bytes;
}

std::string key_of(const CostRow& row) {
  return join({row.compressor, row.mode, row.implementation, std::to_string(row.tensors),
               std::to_string(row.elements), number_to_text(row.density),
               std::to_string(row.workers), row.distribution},
              ",") +
         (row.parameter == 0 ? "" : "," + number_to_text(row.parameter)) +
         (row.input_type == NumberType::Fp32 ? "" : "," + std::string(to_text(row.input_type)));
}

std::vector<CostRow> rows_of(const CalibrationPoint& point, const BenchResult* result) {
  std::vector<CostRow> rows;
  for (std::size_t i = 0; i < point.call.workers.size(); ++i) {
    CostRow row;
    row.compressor = point.call.compressor;
    row.mode = mode_text(point.call.mode);
    row.implementation = point.call.implementation;
    row.tensors = static_cast<int>(point.call.tensors.size());
    row.elements = point.elements();
    row.density = point.density;
    row.workers = point.call.workers[i];
    row.parameter = point.call.parameter;
    row.distribution = distribution_of(point.call);
    row.input_type = parse_tensor_type(value_type_text(point.call.input_type));
    row.evidence = "measured";
    if (result != nullptr) {
      row.selected = result->selected;
      row.encode = rounded(result->encode.median_seconds);
      row.encode_p95 = rounded(result->encode.p95_seconds);
      row.decode = rounded(result->decode.at(i).median_seconds);
      row.decode_p95 = rounded(result->decode.at(i).p95_seconds);
      row.samples = result->encode.samples;
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace gradcast
