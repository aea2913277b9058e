#include "sim/import/weights/onnx.hpp"

#include <algorithm>
#include <map>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/weights/derive.hpp"
#include "sim/import/weights/onnx_graph.hpp"
#include "sim/import/weights/onnx_shapes.hpp"
#include "sim/import/weights/onnx_weights.hpp"
#include "sim/import/weights/weight.hpp"

namespace gradcast {
namespace {

/// Elements of a value of one sample. Nobody's has more, and products of more overflow.
constexpr std::int64_t kMostOfSample = std::int64_t{1} << 34;

class Conversion {
 public:
  Conversion(const std::filesystem::path& path, const WeightsChoice& choice)
      : file_(path.string()),
        choice_(choice),
        graph_(read_onnx_graph(path)),
        initializers_(file_, graph_) {
    shapes_ = onnx_shapes(graph_, choice.height, choice.width);
    for (const OnnxNode& node : graph_.nodes) {
      has_convolutions_ = has_convolutions_ || node.type == "Conv";
      has_normalisation_ = has_normalisation_ || node.type == "BatchNormalization";
    }
  }

  OnnxNetwork convert() {
    network_.kind = "onnx";
    for (const OnnxNode& node : graph_.nodes)
      if (OnnxTaken taken = initializers_.take(node); !taken.hands_on)
        add(node, std::move(taken.weights), taken.tied);
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
    if (!each.tensors.empty() && node.type == "BatchNormalization") {
      each.tensors.front().keep_running_statistics(each.tensors.front().elements);
      ++normalisations_;
    }
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
    } else if (node.type == "Gather" && !taken.front().shape.empty()) {
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

  /// Times that a sample meets the matrix: the product of all sizes between the batch and the last.
  /// 0: unknown.
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
    initializers_.say(notes);
    if (normalisations_ > 0)
      notes.inferred.push_back(
          "the buffers of " + std::to_string(normalisations_) +
          " batch normalisations, as PyTorch has them: running statistics and a count of batches");
    if (tied_ > 0)
      notes.inferred.push_back(
          "a head that shares the table of embeddings, by equal values: one gradient");
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
  OnnxWeights initializers_;
  std::map<std::string, OnnxShape> shapes_;
  WeightsNetwork network_;
  std::vector<Weight> weights_;
  bool has_convolutions_ = false;
  bool has_normalisation_ = false;
  int normalisations_ = 0;  // with buffers
  int tied_ = 0;
};

}  // namespace

OnnxNetwork read_onnx(const std::filesystem::path& path, const WeightsChoice& choice) {
  return Conversion(path, choice).convert();
}

}  // namespace gradcast
