#include "sim/import/weights/onnx.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/weights/derive.hpp"
#include "sim/import/weights/onnx_graph.hpp"
#include "sim/import/weights/onnx_shapes.hpp"
#include "sim/import/weights/weight.hpp"

namespace gradcast {
namespace {

/// As safetensors calls a floating-point TensorProto.DataType; "" for others.
std::string floating_type(std::int64_t type) {
  switch (type) {
    case 1:
      return "F32";
    case 10:
      return "F16";
    case 11:
      return "F64";
    case 16:
      return "BF16";
    default:
      return "";
  }
}

/// Exporters without names of their own number their initializers.
bool is_named_by_exporter(const std::string& name) {
  return name.starts_with("onnx::") || name.find_first_not_of("0123456789") == std::string::npos;
}

/// "layers.0.fc" of PyTorch's node "/layers.0/fc/MatMul".
std::string layer_of_node(const OnnxNode& node) {
  std::string name = node.name;
  if (name.starts_with('/')) name.erase(0, 1);
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return "";
  name.resize(slash);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

/// Elements of a value of one sample. Nobody's has more, and products of more overflow.
constexpr std::int64_t kMostOfSample = std::int64_t{1} << 34;

class Conversion {
 public:
  Conversion(const std::filesystem::path& path, const WeightsChoice& choice)
      : file_(path.string()), choice_(choice), graph_(read_onnx_graph(path)) {
    shapes_ = onnx_shapes(graph_, choice.height, choice.width);
    for (const OnnxNode& node : graph_.nodes) {
      has_convolutions_ = has_convolutions_ || node.type == "Conv";
      has_normalisation_ = has_normalisation_ || node.type == "BatchNormalization";
    }
  }

  OnnxNetwork convert() {
    network_.kind = "onnx";
    for (const OnnxNode& node : graph_.nodes) take(node);
    if (weights_.empty())
      throw DataError(file_, 0,
                      "has no initializer that could be trained; was it exported with its weights "
                      "(export_params)?");
    require_sane_sum(weights_, file_);
    network_.images = has_convolutions_;
    say();
    return {std::move(network_), stored_type(weights_)};
  }

 private:
  enum class Role { Weight, Constant, Statistic, Mask };

  void take(const OnnxNode& node) {
    if (hands_on(node)) return;
    std::vector<Weight> taken;
    bool tied = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      for (const std::string& name : originals(node.inputs[i])) {
        const auto at = graph_.initializers.find(name);
        if (at == graph_.initializers.end() || !seen_.insert(name).second) continue;
        const OnnxInitializer& tensor = at->second;
        const Role role = role_of(node, i, tensor);
        if (role == Role::Weight)
          taken.push_back(
              {named(name, node, taken.size()), tensor.shape, floating_type(tensor.type)});
        else
          ++dropped_[role];
        if (role == Role::Weight && tensor.external) ++external_;
        if (role == Role::Weight && node.type == "Gather") tables_.push_back(name);
        if (role == Role::Weight && node.type == "MatMul") tied = tied || is_turned_table(tensor);
      }
    add(node, std::move(taken), tied);
  }

  /// Whether a node does nothing but bring weights into another form, as exporters do before a node
  /// that wants them turned, rounded or in another order (the gates of an LSTM). Who takes what it
  /// puts out takes those weights.
  bool hands_on(const OnnxNode& node) {
    constexpr std::array<std::string_view, 9> kForms = {"Identity", "Transpose", "Cast",
                                                        "Slice",    "Unsqueeze", "Squeeze",
                                                        "Reshape",  "Concat",    "Split"};
    if (node.type == "Constant") {
      constants_.insert(node.outputs.begin(), node.outputs.end());
      return false;
    }
    if (std::find(kForms.begin(), kForms.end(), node.type) == kForms.end()) return false;
    std::vector<std::string> from;
    for (const std::string& input : node.inputs)
      for (const std::string& name : originals(input)) {
        const auto at = graph_.initializers.find(name);
        if (at == graph_.initializers.end()) {
          if (!name.empty() && !constants_.contains(name)) return false;  // of the samples
        } else if (!floating_type(at->second.type).empty()) {
          if (std::find(from.begin(), from.end(), name) == from.end()) from.push_back(name);
        }
      }
    if (from.empty()) return false;
    if (node.type == "Identity" && is_own_vector(node, from.front())) return true;
    for (const std::string& output : node.outputs) originals_[output] = from;
    return true;
  }

  /// Exporters write parameters of equal values once (all-zero biases of a new network), and give
  /// the others their names by an Identity. A matrix that is handed on so is a tied one.
  bool is_own_vector(const OnnxNode& node, const std::string& from) {
    const std::string& name = node.outputs.front();
    const OnnxInitializer& tensor = graph_.initializers.at(from);
    const bool is_parameter = name.find('.') != std::string::npos && !name.starts_with('/') &&
                              !is_named_by_exporter(name);
    if (!is_parameter || tensor.shape.size() != 1) return false;
    if (graph_.initializers.emplace(name, OnnxInitializer(tensor)).second) ++equal_;
    return true;
  }

  /// The initializers that a value comes of; itself where it comes of none.
  std::vector<std::string> originals(const std::string& value) const {
    const auto at = originals_.find(value);
    return at == originals_.end() ? std::vector{value} : at->second;
  }

  /// Whether a matrix is a table of embeddings, turned, which exporters write a second time.
  bool is_turned_table(const OnnxInitializer& matrix) {
    for (const std::string& name : tables_) {
      const OnnxInitializer& table = graph_.initializers.at(name);
      if (table.shape.size() != 2 || matrix.shape.size() != 2 ||
          table.shape[0] != matrix.shape[1] || table.shape[1] != matrix.shape[0])
        continue;
      if (table.values == 0 || matrix.values == 0)
        network_.notes.unknown.push_back(
            "whether the head shares the table " + in_quotes(shortened(clean_text(name), 60)) +
            ": it has the same shape, and the values are not in this file. It is taken for a "
            "matrix of its own");
      else if (is_same_turned(file_, table, matrix))
        return true;
    }
    return false;
  }

  static Role role_of(const OnnxNode& node, std::size_t place, const OnnxInitializer& tensor) {
    if (floating_type(tensor.type).empty()) return Role::Constant;
    std::int64_t elements = 1;
    for (const std::int64_t size : tensor.shape) elements *= size;
    if (node.type == "BatchNormalization" && place >= 3) return Role::Statistic;
    const bool multiplies = node.type == "Conv" || node.type == "ConvTranspose" ||
                            node.type == "Gemm" || node.type == "MatMul" || node.type == "Gather" ||
                            node.type == "LSTM" || node.type == "GRU" || node.type == "RNN" ||
                            node.type == "PRelu" || node.type.ends_with("Normalization");
    if (multiplies && elements > 0) return Role::Weight;
    const bool adds = node.type == "Add" || node.type == "Mul" || node.type == "Sub" ||
                      node.type == "Div" || node.type == "Concat" || node.type == "Expand";
    if (!adds || elements <= 1) return Role::Constant;
    const OnnxShape& shape = tensor.shape;
    if (shape.size() >= 3 && shape[shape.size() - 1] == shape[shape.size() - 2] && shape[0] == 1)
      return Role::Mask;
    return Role::Weight;
  }

  std::string named(const std::string& name, const OnnxNode& node, std::size_t place) {
    if (!is_named_by_exporter(name)) return name;
    const std::string layer = layer_of_node(node);
    if (layer.empty()) return name;
    std::string better = layer + (place == 0 ? ".weight" : ".bias");
    if (graph_.initializers.contains(better) || !better_names_.insert(better).second) return name;
    ++renamed_;
    return better;
  }

  void add(const OnnxNode& node, std::vector<Weight> taken, bool tied) {
    for (const Weight& weight : taken)
      if (std::any_of(weight.name.begin(), weight.name.end(), is_control) || weight.name.empty() ||
          clean_text(weight.name) != weight.name)
        throw DataError(file_, 0, "has an initializer whose name is no plain text");
    if (taken.empty() && !has_convolutions_) return;
    if (!taken.empty() && joins(node, taken)) {
      for (Weight& weight : taken) push_tensor(network_.operators.back(), std::move(weight));
      return;
    }
    Operator each = operator_of(node, taken);
    if (taken.empty() && (each.in.elements() == 0 || each.out.elements() == 0)) return;
    if (taken.empty() && network_.operators.empty()) return;  // before the first weight
    if (tied) {  // it takes time, and its gradient is the table's
      ++tied_;
      network_.operators.push_back(std::move(each));
      return;
    }
    for (Weight& weight : taken) push_tensor(each, std::move(weight));
    if (!each.tensors.empty())
      each.tensors.front().forward_flops = 2 * static_cast<double>(each.multiply_accumulates);
    network_.operators.push_back(std::move(each));
  }

  /// The bias of a product stands in an Add of its own, of the same layer.
  bool joins(const OnnxNode& node, const std::vector<Weight>& taken) const {
    return node.type == "Add" && !network_.operators.empty() &&
           !network_.operators.back().tensors.empty() &&
           network_.operators.back().layer == layer_of(taken.front().name);
  }

  void push_tensor(Operator& each, Weight weight) {
    each.tensors.push_back(gradient_of(each.layer, weight));
    weights_.push_back(std::move(weight));
  }

  /// The shape of one sample's value: channels, then what is behind them. Zero where unknown.
  Shape sample_shape(const std::string& value) const {
    if (!is_known(shapes_, value)) return {};
    const OnnxShape& shape = shapes_.at(value);
    Shape sample{shape[1], 1, 1};
    std::int64_t elements = shape[1];
    for (std::size_t i = 2; i < shape.size(); ++i) {
      if (elements > kMostOfSample / shape[i]) return {};
      elements *= shape[i];
      (i == 2 ? sample.height : sample.width) *= shape[i];
    }
    return elements > kMostOfSample ? Shape{} : sample;
  }

  Operator operator_of(const OnnxNode& node, const std::vector<Weight>& taken) {
    Operator each;
    each.in = node.inputs.empty() ? Shape{} : sample_shape(node.inputs.front());
    each.out = node.outputs.empty() ? Shape{} : sample_shape(node.outputs.front());
    if (taken.empty()) {
      if (node.type == "Relu" || node.type == "Clip" || node.type == "LeakyRelu" ||
          node.type == "Sigmoid" || node.type == "HardSwish")
        each.kind = OperatorKind::Relu;
      else if (node.type.ends_with("Pool"))
        each.kind = OperatorKind::Pool;
      else if (node.type == "Add")
        each.kind = OperatorKind::Add;
      else if (node.type == "Concat")
        each.kind = OperatorKind::Concatenate;
      else
        each.out = {};  // no operator that the roofline knows
      return each;
    }
    each.layer = layer_of(taken.front().name);
    std::int64_t elements = 0, matrix = 0, in = 0, out = 0;
    for (const Weight& weight : taken) {
      elements += weight.elements();
      if (weight.shape.size() < 2) continue;
      matrix += weight.elements();
      in += weight.shape[weight.shape.size() - 2];
      out += weight.shape.back();
    }
    if (node.type == "Conv" || node.type == "ConvTranspose") {
      each.kind = OperatorKind::Convolution;
      const Shape& moves = node.type == "Conv" ? each.out : each.in;
      if (moves.elements() == 0) lack(node);
      each.multiply_accumulates = product(matrix, moves.height * moves.width);
    } else if (node.type == "Gather") {
      each.kind = OperatorKind::Embedding;
      network_.language = true;
      each.in = {1, 1, tokens()};
      each.out = {taken.front().shape.back(), 1, tokens()};
    } else if (matrix > 0 && !(node.type == "Add" || node.type == "Concat")) {
      each.kind = OperatorKind::Linear;
      std::int64_t rows = tokens();
      if (has_convolutions_) {
        rows = rows_of(node);
        if (rows == 0) lack(node);
      }
      each.in = {in, 1, rows};
      each.out = {out, 1, rows};
      each.multiply_accumulates = product(matrix, rows);
    } else {
      each.kind = OperatorKind::BatchNorm;
      if (each.in.elements() == 0) each.in = {elements, 1, tokens()};
      if (each.out.elements() == 0) each.out = each.in;
      each.multiply_accumulates = each.in.elements();
    }
    return each;
  }

  std::int64_t product(std::int64_t weights, std::int64_t times) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    if (times > 0 && weights > kMost / times)
      throw DataError(file_, 0, "has a layer of more than 2^60 multiply-accumulates a sample");
    return weights * times;
  }

  /// Tokens of a sample: a token, or a sequence of them.
  std::int64_t tokens() const { return choice_.whole_sequences ? choice_.sequence.value_or(1) : 1; }

  /// How often a sample meets the matrix: all sizes between the batch and the last. 0: unknown.
  std::int64_t rows_of(const OnnxNode& node) const {
    const std::string& value = node.outputs.front();
    if (!is_known(shapes_, value)) return node.type == "Gemm" ? 1 : 0;
    const OnnxShape& shape = shapes_.at(value);
    std::int64_t rows = 1;
    for (std::size_t i = 1; i + 1 < shape.size(); ++i) {
      if (rows > kMostOfSample / shape[i]) return 0;
      rows *= shape[i];
    }
    return rows;
  }

  void lack(const OnnxNode& node) {
    const std::string shown = in_quotes(shortened(clean_text(one_line(node.name)), 60));
    bool open = false;
    for (const auto& [name, shape] : graph_.inputs)
      open = open || (shape.size() == 4 && (shape[2] < 0 || shape[3] < 0));
    const std::string image =
        "the graph leaves the size of its images open: --image 224x224 (height x width)";
    const std::string infer = "the size of what " + node.type + " " + shown +
                              " puts out is not in the graph; write it there with "
                              "onnx.shape_inference.infer_shapes";
    if (network_.lacking.empty())
      network_.lacking = open && !(choice_.height && choice_.width) ? image : infer;
  }

  void say() {
    ImportNotes& notes = network_.notes;
    notes.used.push_back(
        "the graph's " + std::to_string(graph_.nodes.size()) + " nodes" +
        (graph_.producer.empty()
             ? ""
             : ", exported by " + shortened(clean_text(one_line(graph_.producer)), 60)) +
        "; no weights were read");
    notes.used.push_back("the order of the tensors: that of the nodes that take them");
    const auto drop = [&](Role role, const char* what) {
      if (dropped_[role] > 0)
        notes.dropped.push_back(std::to_string(dropped_[role]) + " initializers: " + what);
    };
    drop(Role::Statistic, "running statistics of batch normalisation");
    drop(Role::Constant, "constants (whole numbers, single numbers, and what no layer multiplies)");
    drop(Role::Mask, "masks (square, and added)");
    const std::size_t unused = graph_.initializers.size() - seen_.size();
    std::set<std::string> handed;
    for (const auto& [to, from] : originals_)
      for (const std::string& name : from)
        if (!seen_.contains(name)) handed.insert(name);
    const std::size_t handed_on = handed.size();
    if (unused > handed_on)
      notes.dropped.push_back(std::to_string(unused - handed_on) +
                              " initializers that no node takes");
    if (renamed_ > 0)
      notes.inferred.push_back(std::to_string(renamed_) +
                               " names, from the nodes: the exporter numbered these initializers");
    if (tied_ > 0)
      notes.inferred.push_back(
          "a head that shares the table of embeddings, by equal values: one gradient");
    if (equal_ > 0)
      notes.inferred.push_back(std::to_string(equal_) +
                               " vectors that the exporter wrote once because they have the values "
                               "of others: gradients of their own");
    if (external_ > 0)
      notes.used.push_back(std::to_string(external_) +
                           " initializers with their values in another file, by their shapes");
    if (has_convolutions_ && !has_normalisation_)
      notes.unknown.push_back(
          "whether batch normalisation was folded into the convolutions, as exporters do for "
          "inference: then its gradients are missing here (export with training=TRAINING)");
    if (network_.language && choice_.sequence)
      notes.unknown.push_back(
          "the arithmetic inside attentions: it has no weights in a graph, and "
          "is left out");
  }

  std::string file_;
  const WeightsChoice& choice_;
  OnnxGraph graph_;
  std::map<std::string, OnnxShape> shapes_;
  WeightsNetwork network_;
  std::vector<Weight> weights_;
  std::set<std::string> seen_;                                 // initializers that a node took
  std::map<std::string, std::vector<std::string>> originals_;  // of values in another form
  std::set<std::string> constants_;                            // what Constant nodes put out
  std::vector<std::string> tables_;                            // of embeddings
  std::set<std::string> better_names_;
  std::map<Role, int> dropped_;
  bool has_convolutions_ = false;
  bool has_normalisation_ = false;
  int renamed_ = 0;
  int external_ = 0;
  int equal_ = 0;
  int tied_ = 0;
};

}  // namespace

OnnxNetwork read_onnx(const std::filesystem::path& path, const WeightsChoice& choice) {
  return Conversion(path, choice).convert();
}

}  // namespace gradcast
