// Writes ONNX files without weights' values, node by node, as PyTorch's exporter does.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/import/wire_writer.hpp"

class OnnxWriter {
 public:
  /// `sizes` of the input "x"; -1 is left open.
  explicit OnnxWriter(const std::vector<std::int64_t>& sizes) {
    graph_ += bytes_field(11, value("x", sizes));
  }

  static std::string value(const std::string& name, const std::vector<std::int64_t>& sizes) {
    std::string shape;
    for (const std::int64_t size : sizes)
      shape += bytes_field(1, size > 0 ? number_field(1, size) : bytes_field(2, "open"));
    return bytes_field(1, name) +
           bytes_field(2, bytes_field(1, number_field(1, 1) + bytes_field(2, shape)));
  }

  static std::string tensor(const std::string& name, const std::vector<std::int64_t>& sizes,
                            std::int64_t type, const std::string& more = "") {
    std::string sizes_packed;
    for (const std::int64_t size : sizes) sizes_packed += varint(static_cast<std::uint64_t>(size));
    return bytes_field(1, sizes_packed) + number_field(2, type) + bytes_field(8, name) + more;
  }

  /// FLOAT is 1, INT64 is 7.
  void initializer(const std::string& name, const std::vector<std::int64_t>& sizes,
                   std::int64_t type = 1, const std::string& more = "") {
    initializers_ += bytes_field(5, tensor(name, sizes, type, more));
  }

  static std::string list(const std::string& name, const std::vector<std::int64_t>& numbers) {
    std::string attribute = bytes_field(1, name);
    for (const std::int64_t number : numbers) attribute += number_field(8, number);
    return bytes_field(5, attribute);
  }
  static std::string one(const std::string& name, std::int64_t number) {
    return bytes_field(5, bytes_field(1, name) + number_field(3, number));
  }

  /// Returns the name of what it puts out.
  std::string node(const std::string& type, const std::vector<std::string>& inputs,
                   const std::string& attributes = "", const std::string& name = "") {
    const std::string output = "v" + std::to_string(++values_);
    std::string text;
    for (const std::string& input : inputs) text += bytes_field(1, input);
    graph_ += bytes_field(1, text + bytes_field(2, output) +
                                 bytes_field(3, name.empty() ? type + output : name) +
                                 bytes_field(4, type) + attributes);
    return output;
  }

  /// A node as no exporter writes it.
  void node_without_outputs(const std::string& type, const std::vector<std::string>& inputs) {
    std::string text;
    for (const std::string& input : inputs) text += bytes_field(1, input);
    graph_ += bytes_field(1, text + bytes_field(3, "none") + bytes_field(4, type));
  }

  /// Gives an initializer a second name.
  void alias(const std::string& from, const std::string& to) {
    graph_ += bytes_field(1, bytes_field(1, from) + bytes_field(2, to) +
                                 bytes_field(3, "Identity_0") + bytes_field(4, "Identity"));
  }

  std::string convolution(const std::string& layer, const std::string& in, std::int64_t from,
                          std::int64_t to, std::int64_t size, std::int64_t stride) {
    initializer(layer + ".weight", {to, from, size, size});
    const std::int64_t pad = size / 2;
    return node("Conv", {in, layer + ".weight"},
                list("kernel_shape", {size, size}) + list("strides", {stride, stride}) +
                    list("pads", {pad, pad, pad, pad}));
  }

  std::string normalisation(const std::string& layer, const std::string& in, std::int64_t size) {
    for (const char* leaf : {".weight", ".bias", ".running_mean", ".running_var"})
      initializer(layer + leaf, {size});
    return node("BatchNormalization", {in, layer + ".weight", layer + ".bias",
                                       layer + ".running_mean", layer + ".running_var"});
  }

  std::string file() const {
    return number_field(1, 8) + bytes_field(2, "pytorch") + bytes_field(3, "2.1.0") +
           bytes_field(7, graph_ + initializers_);
  }

 private:
  std::string graph_;
  std::string initializers_;
  int values_ = 0;
};

/// torchvision's ResNet-50.
inline std::string resnet_50_onnx(const std::vector<std::int64_t>& input) {
  OnnxWriter net(input);
  std::string at = net.convolution("conv1", "x", 3, 64, 7, 2);
  at = net.node("Relu", {net.normalisation("bn1", at, 64)});
  at = net.node("MaxPool", {at},
                OnnxWriter::list("kernel_shape", {3, 3}) + OnnxWriter::list("strides", {2, 2}) +
                    OnnxWriter::list("pads", {1, 1, 1, 1}));
  std::int64_t channels = 64;
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t narrow = 64 << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::string layer = "layer" + std::to_string(stage + 1) + "." + std::to_string(block);
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      std::string way = net.convolution(layer + ".conv1", at, channels, narrow, 1, 1);
      way = net.node("Relu", {net.normalisation(layer + ".bn1", way, narrow)});
      way = net.convolution(layer + ".conv2", way, narrow, narrow, 3, stride);
      way = net.node("Relu", {net.normalisation(layer + ".bn2", way, narrow)});
      way = net.convolution(layer + ".conv3", way, narrow, 4 * narrow, 1, 1);
      way = net.normalisation(layer + ".bn3", way, 4 * narrow);
      if (block == 0) {
        at = net.convolution(layer + ".downsample.0", at, channels, 4 * narrow, 1, stride);
        at = net.normalisation(layer + ".downsample.1", at, 4 * narrow);
      }
      at = net.node("Relu", {net.node("Add", {way, at})});
      channels = 4 * narrow;
    }
  }
  at = net.node("Flatten", {net.node("GlobalAveragePool", {at})});
  net.initializer("fc.weight", {1000, 2048});
  net.initializer("fc.bias", {1000});
  net.node("Gemm", {at, "fc.weight", "fc.bias"}, OnnxWriter::one("transB", 1));
  return net.file();
}
