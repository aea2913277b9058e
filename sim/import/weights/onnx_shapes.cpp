#include "sim/import/weights/onnx_shapes.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gradcast {
namespace {

constexpr std::array<std::string_view, 26> kElementByElement = {"Relu",
                                                                "LeakyRelu",
                                                                "PRelu",
                                                                "Clip",
                                                                "Sigmoid",
                                                                "Tanh",
                                                                "Elu",
                                                                "Selu",
                                                                "Softplus",
                                                                "Erf",
                                                                "HardSwish",
                                                                "HardSigmoid",
                                                                "Mish",
                                                                "Gelu",
                                                                "BatchNormalization",
                                                                "InstanceNormalization",
                                                                "LayerNormalization",
                                                                "GroupNormalization",
                                                                "Identity",
                                                                "Dropout",
                                                                "Softmax",
                                                                "LogSoftmax",
                                                                "LRN",
                                                                "Cast",
                                                                "Sqrt",
                                                                "Neg"};

constexpr std::array<std::string_view, 6> kOfTwo = {"Add", "Sub", "Mul", "Div", "Pow", "Sum"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& types, const std::string& type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// The sizes behind channels, as a window with stride, padding and dilation leaves them. Empty
/// where it cannot be told.
OnnxShape slid(const OnnxNode& node, const OnnxShape& in, OnnxShape window) {
  const std::size_t axes = in.size() - 2;
  const auto list = [&](const char* name, std::size_t size, std::int64_t usual) {
    const auto at = node.integers.find(name);
    return at != node.integers.end() && at->second.size() == size
               ? at->second
               : std::vector<std::int64_t>(size, usual);
  };
  if (const auto at = node.integers.find("kernel_shape"); at != node.integers.end())
    window = at->second;
  if (window.size() != axes) return {};
  const auto strides = list("strides", axes, 1);
  const auto dilations = list("dilations", axes, 1);
  const auto pads = list("pads", 2 * axes, 0);
  const auto pad_rule = node.texts.find("auto_pad");
  const bool same = pad_rule != node.texts.end() && pad_rule->second.starts_with("SAME");
  const auto ceiling = node.integers.find("ceil_mode");
  const bool up = ceiling != node.integers.end() && ceiling->second == std::vector<std::int64_t>{1};
  constexpr std::int64_t kMostSize = 1'000'000;  // of an image's side, a window, a stride
  OnnxShape out;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t size = in[i + 2];
    for (const std::int64_t number : {size, window[i], strides[i], dilations[i]})
      if (number < 1 || number > kMostSize) return {};
    for (const std::int64_t pad : {pads[i], pads[i + axes]})
      if (pad < 0 || pad > kMostSize) return {};
    if (same) {
      out.push_back((size + strides[i] - 1) / strides[i]);
      continue;
    }
    const std::int64_t room =
        size + pads[i] + pads[i + axes] - (dilations[i] * (window[i] - 1) + 1);
    if (room < 0) return {};
    out.push_back((room + (up ? strides[i] - 1 : 0)) / strides[i] + 1);
  }
  return out;
}

/// Shape of numpy's broadcast; empty if the sizes do not fit.
OnnxShape broadcast(OnnxShape a, OnnxShape b) {
  if (a.size() < b.size()) std::swap(a, b);
  for (std::size_t i = 0; i < b.size(); ++i) {
    std::int64_t& long_one = a[a.size() - 1 - i];
    const std::int64_t short_one = b[b.size() - 1 - i];
    if (long_one == 1)
      long_one = short_one;
    else if (short_one == kUnknownSize && long_one == kUnknownSize)
      continue;
  }
  return a;
}

class Shapes {
 public:
  Shapes(const OnnxGraph& graph, std::optional<std::int64_t> height,
         std::optional<std::int64_t> width)
      : graph_(graph), shapes_(graph.inputs) {
    for (auto& [name, shape] : shapes_) {
      if (shape.empty()) continue;
      if (shape.size() == 4 && shape[2] == kUnknownSize && height) shape[2] = *height;
      if (shape.size() == 4 && shape[3] == kUnknownSize && width) shape[3] = *width;
    }
    for (const auto& [name, initializer] : graph.initializers) shapes_[name] = initializer.shape;
  }

  std::map<std::string, OnnxShape> work_out() {
    for (const OnnxNode& node : graph_.nodes) {
      if (node.outputs.empty()) continue;
      const std::string& output = node.outputs.front();
      OnnxShape shape = of(node);
      const auto said = graph_.shapes.find(output);
      // The file's shape counts if it is complete.
      if (said != graph_.shapes.end() && (shape.empty() || whole(said->second)))
        shape = said->second;
      if (!shape.empty()) shapes_[output] = std::move(shape);
    }
    return std::move(shapes_);
  }

 private:
  static bool whole(const OnnxShape& shape) {
    return !shape.empty() && std::find(shape.begin() + 1, shape.end(), kUnknownSize) == shape.end();
  }

  OnnxShape input(const OnnxNode& node, std::size_t place) const {
    if (place >= node.inputs.size()) return {};
    const auto at = shapes_.find(node.inputs[place]);
    return at == shapes_.end() ? OnnxShape{} : at->second;
  }

  OnnxShape of(const OnnxNode& node) const {
    OnnxShape in = input(node, 0);
    if (node.type == "Constant") {
      const auto at = node.integers.find("value.shape");
      return at == node.integers.end() ? OnnxShape{} : at->second;
    }
    if (in.empty()) return {};
    if (is_one_of(kElementByElement, node.type)) return in;
    if (is_one_of(kOfTwo, node.type)) return broadcast(in, input(node, 1));
    if (node.type == "Conv" && in.size() >= 3) {
      const OnnxShape weight = input(node, 1);
      if (weight.size() != in.size()) return {};
      return joined({in[0], weight[0]}, slid(node, in, {weight.begin() + 2, weight.end()}));
    }
    if ((node.type == "MaxPool" || node.type == "AveragePool") && in.size() >= 3)
      return joined({in[0], in[1]}, slid(node, in, {}));
    if ((node.type == "GlobalAveragePool" || node.type == "GlobalMaxPool") && in.size() >= 3)
      return joined({in[0], in[1]}, OnnxShape(in.size() - 2, 1));
    if (node.type == "ReduceMean") return reduced(node, in);
    if (node.type == "Flatten") return flat(in);
    if (node.type == "Concat") return concatenated(node);
    if (node.type == "Gemm" || node.type == "MatMul") return product(node, in);
    return {};
  }

  static OnnxShape joined(OnnxShape head, const OnnxShape& rest) {
    if (rest.empty()) return {};
    head.insert(head.end(), rest.begin(), rest.end());
    return head;
  }

  /// Global pooling as PyTorch writes it: the mean over the axes behind channels.
  static OnnxShape reduced(const OnnxNode& node, OnnxShape in) {
    const auto axes = node.integers.find("axes");
    const auto keep = node.integers.find("keepdims");
    if (axes == node.integers.end()) return {};
    const bool kept = keep == node.integers.end() || keep->second != std::vector<std::int64_t>{0};
    std::vector<bool> gone(in.size(), false);
    for (const std::int64_t axis : axes->second) {
      const std::int64_t place = axis < 0 ? axis + static_cast<std::int64_t>(in.size()) : axis;
      if (place < 0 || place >= static_cast<std::int64_t>(in.size())) return {};
      gone[static_cast<std::size_t>(place)] = true;
    }
    OnnxShape out;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!gone[i])
        out.push_back(in[i]);
      else if (kept)
        out.push_back(1);
    }
    return out;
  }

  static OnnxShape flat(const OnnxShape& in) {
    constexpr std::int64_t kMost = INT32_MAX;
    std::int64_t product = 1;
    for (std::size_t i = 1; i < in.size(); ++i) {
      if (in[i] < 1 || in[i] > kMost / product) return {};
      product *= in[i];
    }
    return {in[0], product};
  }

  OnnxShape concatenated(const OnnxNode& node) const {
    OnnxShape out = input(node, 0);
    const auto at = node.integers.find("axis");
    if (at == node.integers.end() || at->second.size() != 1) return {};
    std::int64_t axis = at->second[0];
    if (axis < 0) axis += static_cast<std::int64_t>(out.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(out.size())) return {};
    std::int64_t& size = out[static_cast<std::size_t>(axis)];
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const OnnxShape next = input(node, i);
      if (next.size() != out.size() || size < 0 || next[static_cast<std::size_t>(axis)] < 0 ||
          size > INT32_MAX)
        return {};
      size += next[static_cast<std::size_t>(axis)];
    }
    return out;
  }

  OnnxShape product(const OnnxNode& node, OnnxShape in) const {
    const OnnxShape weight = input(node, 1);
    if (weight.size() != 2) return {};
    const auto transposed = node.integers.find("transB");
    const bool turned = node.type == "Gemm" && transposed != node.integers.end() &&
                        transposed->second == std::vector<std::int64_t>{1};
    in.back() = turned ? weight[0] : weight[1];
    return in;
  }

  const OnnxGraph& graph_;
  std::map<std::string, OnnxShape> shapes_;
};

}  // namespace

std::map<std::string, OnnxShape> onnx_shapes(const OnnxGraph& graph,
                                             std::optional<std::int64_t> height,
                                             std::optional<std::int64_t> width) {
  return Shapes(graph, height, width).work_out();
}

bool is_known(const std::map<std::string, OnnxShape>& shapes, const std::string& value) {
  const auto at = shapes.find(value);
  return at != shapes.end() && at->second.size() >= 2 &&
         std::all_of(at->second.begin() + 1, at->second.end(),
                     [](std::int64_t size) { return size > 0; });
}

}  // namespace gradcast
