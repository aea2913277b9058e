#include "sim/import/text/pipedream.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {
namespace {

struct PipedreamNode {
  std::int64_t number = 0;
  std::string type;         // "Conv2d"
  std::string description;  // "Conv2d(3, 64, kernel_size=(3, 3), ...)"
  double forward_ms = 0;
  double backward_ms = 0;
  std::int64_t activation_bytes = 0;
  std::int64_t parameters = 0;
};

constexpr std::int64_t kFloatBytes = 4;

class GraphReader {
 public:
  explicit GraphReader(const std::filesystem::path& path) : text_(read_text_file(path)) {}

  /// The nodes in the order in which they ran.
  std::vector<PipedreamNode> nodes() {
    std::vector<PipedreamNode> nodes;
    std::set<std::int64_t> numbers;
    for (const std::string& line : split_words(text_.content, '\n')) {
      ++line_;
      // Indented lines are edges: nodes are numbered in the order in which they ran.
      if (line.starts_with('\t') || line.find_first_not_of(" \r") == std::string::npos) continue;
      nodes.push_back(node(line));
      if (!numbers.insert(nodes.back().number).second)
        throw failure("node " + std::to_string(nodes.back().number) + " stands twice");
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const PipedreamNode& a, const PipedreamNode& b) { return a.number < b.number; });
    if (nodes.empty()) throw DataError(text_.path.string(), 0, "has no nodes");
    return nodes;
  }

 private:
  DataError failure(const std::string& what) const { return {text_.path.string(), line_, what}; }

  /// "0.539" of "forward_compute_time=0.539, ...".
  double figure(const std::string& line, const std::string& key, double most) const {
    const std::size_t at = line.rfind(key + "=");
    const std::string wanted = "has no " + key + "=NUMBER, so it is no line of a PipeDream graph";
    if (at == std::string::npos) throw failure(wanted);
    const std::size_t begin = at + key.size() + 1;
    std::string number = line.substr(begin, line.find_first_of(", \r", begin) - begin);
    // Stages follow in partitioned graphs: " -- stage_id=0".
    try {
      const double value = parse_number(number);
      if (value >= 0 && value <= most) return value;
    } catch (const ValueError&) {
      throw failure(wanted);
    }
    throw failure(key + " is " + shortened(clean_text(one_line(number)), 40));
  }

  PipedreamNode node(const std::string& line) const {
    PipedreamNode read;
    const std::size_t name_end = line.find(" -- ");
    const std::size_t times = line.rfind(" -- forward_compute_time");
    if (!line.starts_with("node") || name_end == std::string::npos || times == std::string::npos ||
        times <= name_end)
      throw failure(
          "no line of a PipeDream graph: it should be like 'node2 -- Conv2d(...) -- "
          "forward_compute_time=1.2, ...'");
    try {
      read.number = parse_integer(std::string_view(line).substr(4, name_end - 4));
    } catch (const ValueError& error) {
      throw failure(std::string("the node's number: ") + error.what());
    }
    read.description = line.substr(name_end + 4, times - name_end - 4);
    read.type =
        shortened(clean_text(one_line(read.description.substr(0, read.description.find('(')))), 60);
    constexpr double kMostMilliseconds = 1e9;
    constexpr double kMostBytes = 1e15;
    read.forward_ms = figure(line, "forward_compute_time", kMostMilliseconds);
    read.backward_ms = figure(line, "backward_compute_time", kMostMilliseconds);
    // A list of sizes where an operator has several outputs.
    if (line.find("activation_size=[") == std::string::npos)
      read.activation_bytes =
          static_cast<std::int64_t>(figure(line, "activation_size", kMostBytes));
    const double bytes = figure(line, "parameter_size", kMostBytes);
    read.parameters = static_cast<std::int64_t>(bytes) / kFloatBytes;
    if (read.parameters > INT32_MAX)
      throw failure(std::to_string(read.parameters) + " parameters; the most is 2147483647");
    return read;
  }

  TextFile text_;
  std::size_t line_ = 0;
};

/// The number behind `key`, or that of the second argument where `key` is ""; 0 for none.
std::int64_t argument(const std::string& text, const std::string& key) {
  std::size_t at = std::string::npos;
  if (key.empty())
    at = text.find(", ") == std::string::npos ? std::string::npos : text.find(", ") + 2;
  else if (const std::size_t found = text.find(key); found != std::string::npos)
    at = found + key.size();
  if (at == std::string::npos) return 0;
  const std::size_t end = text.find_first_not_of("0123456789", at);
  const std::string digits = text.substr(at, end == std::string::npos ? end : end - at);
  constexpr std::size_t kMostDigits = 9;
  return digits.empty() || digits.size() > kMostDigits ? 0 : std::stoll(digits);
}

/// Number of an operator's parameters that are its bias, by its description.
std::int64_t bias_of(const PipedreamNode& node) {
  if (node.description.find("bias=False") != std::string::npos) return 0;
  std::int64_t bias = 0;
  if (node.type.starts_with("Conv")) bias = argument(node.description, "");
  if (node.type == "Linear") bias = argument(node.description, "out_features=");
  if (node.type.starts_with("BatchNorm")) bias = node.parameters / 2;
  return bias < node.parameters ? bias : 0;
}

/// Images of a batch, by the bytes of the graph's input.
std::optional<int> batch_of(std::int64_t bytes) {
  for (const std::int64_t side : {224, 299}) {
    const std::int64_t image = kFloatBytes * 3 * side * side;
    constexpr std::int64_t kMostImages = 1'000'000;
    if (bytes > 0 && bytes % image == 0 && bytes / image <= kMostImages)
      return static_cast<int>(bytes / image);
  }
  return std::nullopt;
}

Seconds from_ms(double milliseconds) {
  // The file has times to the microsecond.
  return Seconds{std::round(milliseconds * 1e3) / 1e6};
}

}  // namespace

bool is_pipedream(std::string_view begin) {
  return begin.starts_with("node") &&
         begin.substr(0, 4096).find("forward_compute_time=") != std::string_view::npos;
}

Imported read_pipedream(const std::filesystem::path& path, const std::string& name,
                        std::optional<int> batch) {
  const std::vector<PipedreamNode> nodes = GraphReader(path).nodes();
  struct Layer {
    const PipedreamNode* node;
    double forward_ms;
    double backward_ms;
  };
  std::vector<Layer> layers;
  std::optional<int> found;
  double before_forward = 0, before_backward = 0, loading = 0;
  for (const PipedreamNode& node : nodes) {
    if (node.type.starts_with("Input")) {
      if (!found) found = batch_of(node.activation_bytes);
      loading += node.forward_ms;
      continue;
    }
    if (node.parameters > 0) {
      layers.push_back({&node, before_forward, before_backward});
      before_forward = before_backward = 0;
    }
    (layers.empty() ? before_forward : layers.back().forward_ms) += node.forward_ms;
    (layers.empty() ? before_backward : layers.back().backward_ms) += node.backward_ms;
  }
  if (layers.empty()) throw DataError(path.string(), 0, "has no operator with parameters");
  if (!batch && !found)
    throw UsageError(path.string() +
                     ": its input is no batch of 224 x 224 or 299 x 299 images: --batch N");
  Imported imported;
  imported.kind = "pipedream";
  imported.steps_used = 1;
  imported.shapes = ShapesFrom::Recorded;
  Model model{name, {}};
  IterationTrace trace;
  trace.device = "unnamed";
  trace.batch = batch ? *batch : *found;
  for (const Layer& layer : layers) {
    const std::string its = "node" + std::to_string(layer.node->number) + " " + layer.node->type;
    const std::int64_t bias = bias_of(*layer.node);
    const Seconds forward = from_ms(layer.forward_ms), backward = from_ms(layer.backward_ms);
    model.tensors.push_back({its, its + ".weight", layer.node->parameters - bias, 0});
    trace.tensors.push_back({its + ".weight", forward, bias > 0 ? Seconds{0} : backward});
    if (bias == 0) continue;
    model.tensors.push_back({its, its + ".bias", bias, 0});
    trace.tensors.push_back({its + ".bias", Seconds{0}, backward});
  }
  if (trace.iteration() <= Seconds{0}) throw DataError(path.string(), 0, "has no times: all are 0");
  if (trace.iteration() > Seconds{kLongestSeconds})
    throw DataError(path.string(), 0,
                    "takes " + number_to_text(trace.iteration().count()) + " s for an iteration");
  imported.provenance = {"PipeDream profile: forward and backward time of each operator, batch " +
                         std::to_string(trace.batch) +
                         ", each timed with a device synchronisation"};
  imported.notes.used = {std::to_string(nodes.size()) + " operators, of which " +
                         std::to_string(layers.size()) + " have parameters"};
  if (loading > 0) imported.notes.dropped = {"loading of data, " + number_to_text(loading) + " ms"};
  if (!batch)
    imported.notes.inferred.push_back("a batch of " + std::to_string(*found) +
                                      ", from the size of the input");
  imported.notes.inferred.push_back("biases, from the operators' descriptions");
  imported.notes.unknown = {
      "the device; the optimizer's step; FLOPs (forward_flops is 0)",
      "what launches and synchronisations took: every operator's time has some 0.3 ms of them, so "
      "that shares are worth more than totals"};
  imported.model = std::move(model);
  imported.trace = std::move(trace);
  return imported;
}

}  // namespace gradcast
