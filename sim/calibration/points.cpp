#include "sim/calibration/points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/calibration/meter.hpp"
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

/// What tensors are filled with, and which tensors.
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

/// To tenths of a nanosecond: finer than any clock here.
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

CalibrationPoints make_points(const PointsAsked& asked, const PointsOffered& offered) {
  CalibrationPoints made;
  LeftOut left_out;
  std::set<std::string> notes;
  const auto add = [&](const TensorSet& set, double density, CalibrationPoint point) {
    point.density = density;
    point.call.tensors = set;
    for (const std::int64_t elements : set)
      point.call.wanted.push_back(wanted_elements(elements, density));
    const auto& recorded = point.call.recorded;
    if (recorded && static_cast<std::size_t>(point.elements()) > recorded->u.size())
      left_out.add(recorded->name + " has " + std::to_string(recorded->u.size()) + " elements",
                   point.elements());
    else if (point.elements() > std::numeric_limits<std::int32_t>::max())
      left_out.add("a cost table counts to 2^31 - 1 elements", point.elements());
    else if (offered.memory_needed(point.call) > offered.memory_bytes)
      left_out.add("needs more memory than this device has free", point.elements());
    else
      made.points.push_back(std::move(point));
  };
  const auto add_modes = [&](const TensorSet& set, double density, const Source& source,
                             const Compressor& compressor) {
    for (const Mode mode : modes_of(compressor, asked.code_only)) {
      if (compressor.rule == Rule::Dgc && mode == Mode::Code && density > kMostOfDgcCode) {
        notes.insert(
            "dgc in mode code is not measured above density 0.01: the authors' code "
            "raises an error there");
        continue;
      }
      const std::string name(compressor.name);
      const auto implementations = offered.implementations(name, mode);
      if (implementations.empty()) notes.insert("nothing on this device runs '" + name + "'");
      for (const std::string& implementation : implementations) {
        if (source.recorded && implementation == kTorch) {
          notes.insert("torch is not timed on recorded vectors");
          continue;
        }
        CalibrationPoint point;
        point.call.compressor = name;
        point.call.mode = mode;
        point.call.implementation = implementation;
        point.call.input = source.input;
        point.call.recorded = source.recorded;
        point.call.workers = asked.workers;
        point.call.seed = asked.seed;
        point.call.warm_and_cold = asked.warm_and_cold;
        add(set, density, std::move(point));
      }
    }
  };
  // Neighbours in the order share their input, so that a device may keep it.
  for (const Source& source : sources_of(asked))
    for (const TensorSet& set : source.sets)
      for (const double density : asked.densities)
        for (const Compressor* compressor : asked.compressors)
          add_modes(set, density, source, *compressor);
  made.notes.assign(notes.begin(), notes.end());
  for (const std::string& note : left_out.notes()) made.notes.push_back(note);
  return made;
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

std::string key_of(const CostRow& row) {
  return join({row.compressor, row.mode, row.implementation, std::to_string(row.tensors),
               std::to_string(row.elements), number_to_text(row.density),
               std::to_string(row.workers), row.distribution},
              ",");
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
    row.distribution = distribution_of(point.call);
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
