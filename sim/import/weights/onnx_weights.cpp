#include "sim/import/weights/onnx_weights.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/base/clean_text.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// Name of a floating-point TensorProto.DataType in safetensors; "" for others.
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

}  // namespace

OnnxTaken OnnxWeights::take(const OnnxNode& node) {
  OnnxTaken taken;
  taken.hands_on = hands_on(node);
  if (taken.hands_on) return taken;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    for (const std::string& name : originals(node.inputs[i])) {
      const auto at = graph_.initializers.find(name);
      if (at == graph_.initializers.end() || !seen_.insert(name).second) continue;
      const OnnxInitializer& tensor = at->second;
      const Role role = role_of(node, i, tensor);
      if (role != Role::Weight) {
        ++dropped_[role];
        continue;
      }
      taken.weights.push_back(
          {named(name, node, taken.weights.size()), tensor.shape, floating_type(tensor.type)});
      if (tensor.external) ++external_;
      if (node.type == "Gather") tables_.push_back(name);
      if (node.type == "MatMul") taken.tied = taken.tied || is_turned_table(tensor);
    }
  return taken;
}

/// True if a node does nothing but bring weights into another form, as exporters do before a node
/// that wants them turned, rounded or in another order (the gates of an LSTM). A node that takes
/// its output takes those weights.
bool OnnxWeights::hands_on(const OnnxNode& node) {
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
bool OnnxWeights::is_own_vector(const OnnxNode& node, const std::string& from) {
  const std::string& name = node.outputs.front();
  const OnnxInitializer& tensor = graph_.initializers.at(from);
  const bool is_parameter =
      name.find('.') != std::string::npos && !name.starts_with('/') && !is_named_by_exporter(name);
  if (!is_parameter || tensor.shape.size() != 1) return false;
  if (graph_.initializers.emplace(name, OnnxInitializer(tensor)).second) ++equal_;
  return true;
}

/// The initializers that a value comes of; itself where it comes of none.
std::vector<std::string> OnnxWeights::originals(const std::string& value) const {
  const auto at = originals_.find(value);
  return at == originals_.end() ? std::vector{value} : at->second;
}

/// Whether a matrix is a table of embeddings, turned, which exporters write a second time.
bool OnnxWeights::is_turned_table(const OnnxInitializer& matrix) {
  for (const std::string& name : tables_) {
    const OnnxInitializer& table = graph_.initializers.at(name);
    if (table.shape.size() != 2 || matrix.shape.size() != 2 || table.shape[0] != matrix.shape[1] ||
        table.shape[1] != matrix.shape[0])
      continue;
    if (table.values == 0 || matrix.values == 0)
      unknown_.push_back(
          "whether the head shares the table " + in_quotes(shortened(clean_text(name), 60)) +
          ": it has the same shape, and the values are not in this file. It is taken for a "
          "matrix of its own");
    else if (is_same_turned(file_, table, matrix))
      return true;
  }
  return false;
}

OnnxWeights::Role OnnxWeights::role_of(const OnnxNode& node, std::size_t place,
                                       const OnnxInitializer& tensor) {
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

std::string OnnxWeights::named(const std::string& name, const OnnxNode& node, std::size_t place) {
  if (!is_named_by_exporter(name)) return name;
  const std::string layer = layer_of_node(node);
  if (layer.empty()) return name;
  std::string better = layer + (place == 0 ? ".weight" : ".bias");
  if (graph_.initializers.contains(better) || !better_names_.insert(better).second) return name;
  ++renamed_;
  return better;
}

/// Initializers that no node takes, not even in another form.
std::size_t OnnxWeights::never_taken() const {
  std::set<std::string> handed;
  for (const auto& [to, from] : originals_)
    for (const std::string& name : from)
      if (!seen_.contains(name)) handed.insert(name);
  const std::size_t unused = graph_.initializers.size() - seen_.size();
  return unused > handed.size() ? unused - handed.size() : 0;
}

void OnnxWeights::say(ImportNotes& notes) const {
  const auto drop = [&](Role role, const char* what) {
    if (const auto found = dropped_.find(role); found != dropped_.end())
      notes.dropped.push_back(std::to_string(found->second) + " initializers: " + what);
  };
  drop(Role::Statistic, "running statistics of batch normalisation");
  drop(Role::Constant, "constants (whole numbers, single numbers, and what no layer multiplies)");
  drop(Role::Mask, "masks (square, and added)");
  if (const std::size_t unused = never_taken(); unused > 0)
    notes.dropped.push_back(std::to_string(unused) + " initializers that no node takes");
  if (renamed_ > 0)
    notes.inferred.push_back(std::to_string(renamed_) +
                             " names, from the nodes: the exporter numbered these initializers");
  if (equal_ > 0)
    notes.inferred.push_back(std::to_string(equal_) +
                             " vectors that the exporter wrote once because they have the values "
                             "of others: gradients of their own");
  if (external_ > 0)
    notes.used.push_back(std::to_string(external_) +
                         " initializers with their values in another file, by their shapes");
  notes.unknown.insert(notes.unknown.end(), unknown_.begin(), unknown_.end());
}

}  // namespace gradcast
