#include "sim/import/weights/onnx.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/weights/derive.hpp"
#include "sim/import/weights/onnx_graph.hpp"
#include "sim/inputs/model.hpp"
#include "tests/sim/import/onnx_writer.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

OnnxNetwork read(const std::string& file, const WeightsChoice& choice = {}) {
  const TemporaryFolder folder;
  return read_onnx(folder.write("a.onnx", file), choice);
}

Model committed_resnet() {
  return load_model(read_text_file(std::string(GRADCAST_SOURCE_DIR) + "/models/resnet-50.csv"));
}

std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for (const GradientTensor& tensor : model.tensors) names.push_back(tensor.tensor);
  return names;
}

}  // namespace

// The committed file was generated from an architecture that somebody else wrote down.
TEST_CASE("ResNet-50 as ONNX is models/resnet-50.csv: tensors, elements, FLOPs, order", "[onnx]") {
  const OnnxNetwork read_network = read(resnet_50_onnx({1, 3, 224, 224}));
  const Model known = committed_resnet();
  const Model model{"", tensors_of(read_network.network.operators)};
  REQUIRE(model.tensors.size() == 161);
  CHECK(names_of(model) == names_of(known));
  CHECK(model.elements() == 25'557'032);
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    CAPTURE(model.tensors[i].tensor);
    CHECK(model.tensors[i].layer == known.tensors[i].layer);
    CHECK(model.tensors[i].elements == known.tensors[i].elements);
    CHECK(model.tensors[i].forward_flops == known.tensors[i].forward_flops);
    CHECK(model.tensors[i].buffer_bytes == known.tensors[i].buffer_bytes);
    CHECK(model.tensors[i].counter_bytes == known.tensors[i].counter_bytes);
  }
  CHECK(read_network.network.lacking.empty());
  CHECK_THAT(join(read_network.network.notes.dropped),
             Contains("106 initializers: running statistics"));  // two of each of 53
}

TEST_CASE("a graph that leaves its images' size open asks for it", "[onnx]") {
  const std::string file = resnet_50_onnx({-1, 3, -1, -1});
  CHECK_THAT(read(file).network.lacking, Contains("--image 224x224"));
  WeightsChoice choice;
  choice.height = choice.width = 224;
  const OnnxNetwork known = read(file, choice);
  CHECK(known.network.lacking.empty());
  CHECK(Model{"", tensors_of(known.network.operators)}.forward_flops() ==
        committed_resnet().forward_flops());
}

// Two tokens' table of 10 rows, a 4 x 8 matrix with its bias in an Add of its own, and constants: a
// shape (whole numbers), a scale (one number) and a mask (square).
TEST_CASE("constants are told from weights by type, size and use", "[onnx]") {
  OnnxWriter net({-1, -1});
  net.initializer("wte.weight", {10, 4});
  net.initializer("onnx::MatMul_7", {4, 8});
  net.initializer("h.0.fc.bias", {8});
  net.initializer("shape", {3}, 7);
  net.initializer("scale", {});
  net.initializer("mask", {1, 1, 16, 16});
  net.initializer("unused", {5});
  std::string at = net.node("Gather", {"wte.weight", "x"});
  at = net.node("MatMul", {at, "onnx::MatMul_7"}, "", "/h.0/fc/MatMul");
  at = net.node("Add", {"h.0.fc.bias", at}, "", "/h.0/fc/Add");
  at = net.node("Mul", {at, "scale"});
  at = net.node("Add", {at, "mask"});
  net.node("Reshape", {at, "shape"});
  const OnnxNetwork network = read(net.file());
  const Model model{"", tensors_of(network.network.operators)};
  CHECK(names_of(model) == std::vector<std::string>{"wte.weight", "h.0.fc.weight", "h.0.fc.bias"});
  CHECK(model.tensors[2].layer == "h.0.fc");
  CHECK(model.tensors[1].forward_flops == 2 * 4 * 8);  // one token
  CHECK(network.network.language);
  CHECK_THAT(join(network.network.notes.dropped),
             Contains("2 initializers: constants") && Contains("1 initializers: masks") &&
                 Contains("1 initializers that no node takes"));
  CHECK_THAT(join(network.network.notes.inferred), Contains("1 names, from the nodes"));
}

TEST_CASE("a weight that is turned before its use is still the weight", "[onnx]") {
  OnnxWriter net({1, 4});
  net.initializer("fc.weight", {8, 4});
  net.node("MatMul", {"x", net.node("Transpose", {"fc.weight"})});
  CHECK(tensors_of(read(net.file()).network.operators).front().tensor == "fc.weight");
}

// PyTorch writes an LSTM's gates in another order: slices of each weight, put together again. A
// PReLU's slope is given the dimensions of an image.
TEST_CASE("weights that are sliced, joined and reshaped before their use are still there",
          "[onnx]") {
  OnnxWriter net({1, 4});
  net.initializer("l.weight_ih", {12, 4});
  net.initializer("l.weight_hh", {12, 3});
  net.initializer("l.bias_ih", {12});
  net.initializer("l.bias_hh", {12});
  net.initializer("a.weight", {8});
  net.initializer("at", {1}, 7);
  const auto gates = [&](const std::string& weight) {
    return net.node("Concat", {net.node("Slice", {weight, "at", "at", "at"}),
                               net.node("Slice", {weight, "at", "at", "at"})});
  };
  const std::string w = net.node("Unsqueeze", {gates("l.weight_ih"), "at"});
  const std::string r = net.node("Unsqueeze", {gates("l.weight_hh"), "at"});
  const std::string b = net.node("Concat", {gates("l.bias_ih"), gates("l.bias_hh")});
  const std::string at = net.node("LSTM", {"x", w, r, net.node("Unsqueeze", {b, "at"})});
  net.node("PRelu", {at, net.node("Unsqueeze", {"a.weight", net.node("Constant", {})})});
  const Model model{"", tensors_of(read(net.file()).network.operators)};
  CHECK(names_of(model) == std::vector<std::string>{"l.weight_ih", "l.weight_hh", "l.bias_ih",
                                                    "l.bias_hh", "a.weight"});
}

// The table has 3 rows of 2 numbers; the head is the same, turned.
TEST_CASE("a head that is the table turned is one gradient with it", "[onnx]") {
  const auto floats = [](const std::vector<float>& values) {
    return bytes_field(
        9, std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size()));
  };
  for (const bool tied : {true, false}) {
    OnnxWriter net({-1, -1});
    net.initializer("e.weight", {3, 2}, 1, floats({1, 2, 3, 4, 5, 6}));
    net.initializer("onnx::MatMul_7", {2, 3}, 1, floats({1, 3, 5, 2, 4, tied ? 6.0F : 7.0F}));
    net.node("MatMul", {net.node("Gather", {"e.weight", "x"}), "onnx::MatMul_7"});
    const OnnxNetwork network = read(net.file());
    CHECK(tensors_of(network.network.operators).size() == (tied ? 1 : 2));
    CHECK(network.network.operators.size() == 2);  // the head takes its time
    CHECK(network.network.notes.inferred.size() == (tied ? 1 : 0));
  }
}

TEST_CASE("vectors that the exporter wrote once, as equal, are gradients of their own", "[onnx]") {
  OnnxWriter net({1, 4});
  net.initializer("a.weight", {4, 4});
  net.initializer("b.weight", {4, 4});
  net.initializer("a.bias", {4});
  net.alias("a.bias", "b.bias");
  net.node("Gemm", {net.node("Gemm", {"x", "a.weight", "a.bias"}), "b.weight", "b.bias"});
  const OnnxNetwork network = read(net.file());
  const Model model{"", tensors_of(network.network.operators)};
  CHECK(names_of(model) == std::vector<std::string>{"a.weight", "a.bias", "b.weight", "b.bias"});
  CHECK_THAT(join(network.network.notes.inferred), Contains("1 vectors that the exporter wrote"));
}

TEST_CASE("values in another file are known by their shapes", "[onnx]") {
  OnnxWriter net({1, 4});
  net.initializer("fc.weight", {4, 8}, 1,
                  bytes_field(13, bytes_field(1, "location") + bytes_field(2, "weights.bin")) +
                      number_field(14, 1));
  net.node("MatMul", {"x", "fc.weight"});
  const OnnxNetwork network = read(net.file());
  CHECK(tensors_of(network.network.operators).front().elements == 32);
  CHECK_THAT(join(network.network.notes.used), Contains("1 initializers with their values in"));
}

TEST_CASE("a file that is no ONNX is refused in one line", "[onnx]") {
  const auto refused = [](const std::string& file, const char* why) {
    CHECK_THROWS_WITH(read(file), Contains("a.onnx") && Contains(why));
  };
  refused("", "has no graph");
  refused("hello, this is text", "no protobuf");
  refused(number_field(1, 8), "has no graph");
  refused(number_field(1, 8) + bytes_field(7, ""), "no initializer that could be trained");
  const std::string whole = resnet_50_onnx({1, 3, 224, 224});
  refused(whole.substr(0, whole.size() / 2), "is the file cut off?");
  const auto tensor = [](const std::string& fields) {
    return number_field(1, 8) + bytes_field(7, bytes_field(5, fields));
  };
  refused(tensor(OnnxWriter::tensor("w", {-1}, 1)), "initializer 'w' has a size of -1");
  refused(tensor(OnnxWriter::tensor("w", {1 << 30, 1 << 30}, 1)), "more than 2147483647 elements");
  refused(tensor(OnnxWriter::tensor("w", {2}, 1, bytes_field(9, "1234"))),
          "4 bytes of values; its shape takes 8");
  refused(tensor(OnnxWriter::tensor("w", std::vector<std::int64_t>(99, 1), 1)), "more than 32");
  OnnxWriter twice({1});
  twice.initializer("w", {1});
  twice.initializer("w", {1});
  refused(twice.file(), "two initializers are named 'w'");
  for (const char* type : {"Identity", "Gemm"}) {  // both were asked for the name of their output
    OnnxWriter nowhere({1, 4});
    nowhere.convolution("c", "x", 1, 1, 1, 1);
    nowhere.initializer("a.b", {4});
    nowhere.node_without_outputs(type, {"a.b"});
    refused(nowhere.file(), "node 'none' puts out nothing");
  }
  // A window of a billion, and a stride of none, are no sizes that the shapes go on with.
  OnnxWriter absurd({1, 3, 8, 8});
  absurd.initializer("c.weight", {4, 3, 3, 3});
  absurd.node("Conv", {"x", "c.weight"}, OnnxWriter::list("strides", {0, 0}));
  CHECK_THAT(read(absurd.file()).network.lacking, Contains("not in the graph"));
}
