#include "sim/import/text/astra_sim.hpp"

#include <map>
#include <set>
#include <sstream>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {
namespace {

/// name, dependency, then forward, input gradient and weight gradient with a time, a collective and
/// its bytes each, and the time of the update.
constexpr std::size_t kColumnsOfLayer = 12;

constexpr std::int64_t kBytesOfGradient = 4;

struct AstraLayer {
  std::string name;
  std::int64_t forward = 0, input_gradient = 0, weight_gradient = 0, update = 0;  // ticks
  std::int64_t bytes = 0;  // that the weight gradient's all-reduce hands over
};

class AstraReader {
 public:
  explicit AstraReader(const std::filesystem::path& path)
      : text_(read_text_file(path)), lines_(split_words(text_.content, '\n')) {}

  std::vector<AstraLayer> layers() {
    const std::string scheme = fields(0).empty() ? "" : fields(0).front();
    // DATA is pure data parallelism. SimAI's HYBRID_... name tensor and pipeline groups.
    if (scheme != "DATA")
      throw failure(1, "the scheme " + shown(scheme) +
                           ": only DATA is data-parallel, which is all that gradcast forecasts");
    const std::int64_t count = fields(1).size() == 1 ? number(1, fields(1)[0], "layers") : 0;
    constexpr std::int64_t kMostLayers = 1'000'000;
    if (count < 1 || count > kMostLayers)
      throw failure(2, "should be how many layers follow, 1 to 1000000");
    std::vector<AstraLayer> layers;
    std::size_t line = 2;
    while (static_cast<std::int64_t>(layers.size()) < count) {
      if (line >= lines_.size())
        throw failure(line, std::to_string(count) + " layers should follow, only " +
                                std::to_string(layers.size()) + " do; is the file cut off?");
      if (!fields(line).empty()) layers.push_back(layer(line));
      ++line;
    }
    for (; line < lines_.size(); ++line)
      if (!fields(line).empty())
        throw failure(line + 1, "goes on after its " + std::to_string(count) + " layers");
    return layers;
  }

 private:
  static std::string shown(const std::string& text) {
    return in_quotes(shortened(clean_text(one_line(text)), 40));
  }

  DataError failure(std::size_t line, const std::string& what) const {
    return {text_.path.string(), line, what};
  }

  std::vector<std::string> fields(std::size_t line) const {
    std::vector<std::string> words;
    if (line >= lines_.size()) return words;
    std::istringstream text(lines_[line]);
    for (std::string word; text >> word;) words.push_back(word);
    return words;
  }

  std::int64_t number(std::size_t line, const std::string& word, const char* what) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 42;
    try {
      const std::int64_t value = parse_integer(word);
      if (value >= 0 && value <= kMost) return value;
    } catch (const ValueError&) {
    }
    throw failure(line + 1, shown(word) + " is no number of " + what);
  }

  /// NONE or ALLREDUCE: bytes; what else there is belongs to other kinds of parallelism.
  std::int64_t collective(std::size_t line, const std::vector<std::string>& words, std::size_t at,
                          bool may_reduce) {
    const std::string& name = words[at];
    const std::int64_t bytes = number(line, words[at + 1], "bytes");
    if (name == "NONE") return 0;
    if (name == "ALLREDUCE" && may_reduce) return bytes;
    throw failure(line + 1, "layer " + shown(words[0]) + " has " + shown(name) + " in its " +
                                (at == 3   ? "forward pass"
                                 : at == 6 ? "input gradients"
                                           : "weight gradients") +
                                ": data parallelism only all-reduces weight gradients");
  }

  AstraLayer layer(std::size_t line) {
    const std::vector<std::string> words = fields(line);
    if (words.size() != kColumnsOfLayer)
      throw failure(line + 1, std::to_string(words.size()) + " words; a layer has " +
                                  std::to_string(kColumnsOfLayer) +
                                  ": name, dependency, and time, collective, bytes of forward, "
                                  "input and weight gradients, and the update's time");
    AstraLayer read;
    read.name = shortened(clean_text(one_line(words[0])), 200);
    read.forward = number(line, words[2], "ticks");
    collective(line, words, 3, false);
    read.input_gradient = number(line, words[5], "ticks");
    collective(line, words, 6, false);
    read.weight_gradient = number(line, words[8], "ticks");
    read.bytes = collective(line, words, 9, true);
    read.update = number(line, words[11], "ticks");
    if (read.bytes % kBytesOfGradient != 0 || read.bytes / kBytesOfGradient > INT32_MAX)
      throw failure(line + 1, std::to_string(read.bytes) +
                                  " bytes are no gradient of 4 bytes an element, up to 2^31 - 1");
    return read;
  }

  TextFile text_;
  std::vector<std::string> lines_;
};

}  // namespace

bool is_astra_sim(std::string_view begin) {
  const std::size_t line = begin.find('\n');
  if (line == std::string_view::npos || line > 200) return false;
  const std::string_view first = begin.substr(0, line);
  if (!first.starts_with("DATA") && !first.starts_with("HYBRID_") && !first.starts_with("MODEL") &&
      !first.starts_with("MICRO") && !first.starts_with("TRANSFORMER"))
    return false;
  const std::size_t digit = begin.find_first_not_of(" \t\r\n", line);
  return digit != std::string_view::npos && begins_with_digit(begin.substr(digit));
}

Imported read_astra_sim(const std::filesystem::path& path, const std::string& name,
                        std::optional<Seconds> tick) {
  const std::vector<AstraLayer> layers = AstraReader(path).layers();
  if (!tick)
    throw UsageError(path.string() +
                     " does not say what its times count: --tick 1ns (SimAI) or --tick 1us "
                     "(Chakra's converter)");
  if (*tick <= Seconds{0}) throw UsageError("--tick takes more than 0 s");
  Imported imported;
  imported.kind = "astra_sim";
  imported.steps_used = 1;
  imported.shapes = ShapesFrom::Recorded;
  Model model{name, {}};
  IterationTrace trace;
  trace.device = "unnamed";
  trace.batch = 1;
  std::set<std::string> names;
  std::map<std::string, int> seen;
  AstraLayer sums;
  int reductions = 0;
  // Layers without gradients fold into the one before them, and into the first what comes before
  // it.
  Seconds forward_before{0}, backward_before{0};
  for (const AstraLayer& layer : layers) {
    const Seconds forward = static_cast<double>(layer.forward) * *tick;
    const Seconds backward =
        static_cast<double>(layer.input_gradient + layer.weight_gradient) * *tick;
    trace.update += static_cast<double>(layer.update) * *tick;
    sums.forward += layer.forward;
    sums.input_gradient += layer.input_gradient;
    sums.weight_gradient += layer.weight_gradient;
    sums.update += layer.update;
    sums.bytes += layer.bytes;
    if (layer.bytes == 0) {
      (trace.tensors.empty() ? forward_before : trace.tensors.back().forward) += forward;
      (trace.tensors.empty() ? backward_before : trace.tensors.back().backward) += backward;
      continue;
    }
    ++reductions;
    std::string unique = layer.name;
    // Counted, since a file of a million equal names would be tried over and over.
    while (!names.insert(unique).second)
      unique = layer.name + "-" + std::to_string(++seen.emplace(layer.name, 1).first->second);
    const std::int64_t elements = layer.bytes / kBytesOfGradient;
    model.tensors.push_back({unique, unique, elements, 0});
    trace.tensors.push_back({unique, forward + forward_before, backward + backward_before});
    forward_before = backward_before = Seconds{0};
    imported.buckets.insert(imported.buckets.begin(), elements);  // backward sends the last first
  }
  if (model.tensors.empty())
    throw DataError(path.string(), 0, "has no layer that all-reduces a gradient");
  if (trace.iteration() <= Seconds{0} || trace.iteration() > Seconds{kLongestSeconds})
    throw DataError(path.string(), 0,
                    "takes " + number_to_text(trace.iteration().count()) +
                        " s for an iteration; is --tick right?");
  imported.collectives.push_back({"all-reduce", reductions, Bytes{sums.bytes}, Seconds{0}});
  const std::string counted =
      std::to_string(layers.size()) + " layers; ticks of forward " + std::to_string(sums.forward) +
      ", input gradients " + std::to_string(sums.input_gradient) + ", weight gradients " +
      std::to_string(sums.weight_gradient) + ", update " + std::to_string(sums.update) + ", of " +
      to_text(*tick) + " each (--tick)";
  imported.provenance = {"ASTRA-sim text workload: " + counted};
  imported.notes.used = {counted};
  imported.notes.inferred = {"elements: a quarter of the bytes that a layer all-reduces (fp32)"};
  imported.notes.unknown = {"the batch (written as 1), the device, FLOPs (forward_flops is 0)"};
  imported.model = std::move(model);
  imported.trace = std::move(trace);
  return imported;
}

}  // namespace gradcast
