#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "sim/generate/networks.hpp"

using namespace gradcast;

namespace {

Model model(const std::string& name) {
  for (const Network& network : all_networks())
    if (network.name == name) return model_of(network.name, network.architecture);
  throw std::logic_error("no network '" + name + "'");
}

const GradientTensor& tensor(const Model& model, const std::string& name) {
  for (const GradientTensor& each : model.tensors)
    if (each.tensor == name) return each;
  throw std::logic_error("no tensor '" + name + "'");
}

struct Published {
  std::int64_t parameters;
  std::size_t tensors;
  double multiply_accumulates;
};

}  // namespace

// Multiply-accumulates of all but Inception-V4 as torchvision's documentation has them.
// Tensors of ResNet-152: 3 + 8 + 36 + 3 = 50 bottlenecks of three convolutions and three
// normalisations of two tensors, 9 each; four shortcuts of 3; the stem's 3, the last layer's 2:
// 467. DenseNet-161: 6 + 12 + 36 + 24 = 78 layers of two normalisations and two convolutions, 6
// each; three transitions of 3; the stem's 3, the last normalisation's 2, the last layer's 2: 484.
// DenseNet-201 has 6 + 12 + 48 + 32 = 98 layers, 20 more: 484 + 20 x 6 = 604.
TEST_CASE("the networks have their published parameters, to the last one", "[generate]") {
  const std::map<std::string, Published> published{
      {"alexnet", {61'100'840, 16, 0.71e9}},       {"vgg-16", {138'357'544, 32, 15.5e9}},
      {"resnet-50", {25'557'032, 161, 4.1e9}},     {"inception-v4", {42'679'816, 449, 6.12e9}},
      {"resnet-152", {60'192'808, 467, 11.51e9}},  {"densenet-161", {28'681'000, 484, 7.73e9}},
      {"densenet-201", {20'013'928, 604, 4.29e9}},
  };
  CHECK(all_networks().size() == published.size());
  for (const auto& [name, expected] : published) {
    const Model made = model(name);
    CAPTURE(name);
    CHECK(made.elements() == expected.parameters);
    CHECK(made.tensors.size() == expected.tensors);
    CHECK(made.forward_flops() == Approx(2 * expected.multiply_accumulates).epsilon(0.02));
  }
}

TEST_CASE("tensors have names of their own, and FLOPs stand on a layer's first", "[generate]") {
  for (const Network& network : all_networks()) {
    std::set<std::string> names;
    std::set<std::string> layers;
    for (const GradientTensor& each : model_of(network.name, network.architecture).tensors) {
      CAPTURE(network.name, each.tensor);
      CHECK(names.insert(each.tensor).second);
      CHECK((each.forward_flops > 0) == layers.insert(each.layer).second);
    }
  }
}

// 224 + 2 x 2 - 11 = 217, over a stride of 4: 54 steps, 55 places. 64 filters of 11 x 11 x 3.
TEST_CASE("AlexNet's first convolution is what can be multiplied out", "[generate]") {
  const GradientTensor first = tensor(model("alexnet"), "features.0.weight");
  CHECK(first.elements == 64 * 11 * 11 * 3);
  CHECK(first.forward_flops == 2.0 * 55 * 55 * 64 * 11 * 11 * 3);
}

// Five poolings halve 224 to 7; 512 channels of 7 x 7 into 4096.
TEST_CASE("VGG-16's first dense layer is three quarters of the network", "[generate]") {
  const Model vgg = model("vgg-16");
  CHECK(tensor(vgg, "classifier.0.weight").elements == 512 * 7 * 7 * 4096);
  CHECK(100 * tensor(vgg, "classifier.0.weight").elements > 74 * vgg.elements());
}

// torchvision registers a bottleneck's shortcut after its three convolutions.
TEST_CASE("tensors come in forward order, shortcuts after the branch they join", "[generate]") {
  const Model resnet = model("resnet-50");
  CHECK(resnet.tensors.front().tensor == "conv1.weight");
  CHECK(resnet.tensors[9].tensor == "layer1.0.conv3.weight");
  CHECK(resnet.tensors[12].tensor == "layer1.0.downsample.0.weight");
  CHECK(resnet.tensors.back().tensor == "fc.bias");
}

// DenseNet-161 begins with 96 channels, and each layer adds 48: the third of the first block reads
// 96 + 2 x 48, and narrows them to 4 x 48. Its sixth leaves 96 + 6 x 48 = 384 channels, which the
// transition halves.
TEST_CASE("a dense layer reads the channels of all before it", "[generate]") {
  const Model densenet = model("densenet-161");
  CHECK(tensor(densenet, "features.denseblock1.denselayer3.conv1.weight").elements ==
        (96 + 2 * 48) * (4 * 48));
  CHECK(tensor(densenet, "features.denseblock1.denselayer3.conv2.weight").elements ==
        4 * 48 * 3 * 3 * 48);
  CHECK(tensor(densenet, "features.transition1.conv.weight").elements == 384 * 192);
}

// Four blocks of 6, 12, 48 and 32 layers, 32 channels each, halved after the first three: 64 + 192,
// 128 + 384, 256 + 1536, 896 + 1024 = 1920 channels of 7 x 7 at the end.
TEST_CASE("DenseNet-201 ends with 1920 channels", "[generate]") {
  CHECK(tensor(model("densenet-201"), "classifier.weight").elements == 1920 * 1000);
  const Architecture net = densenet_201();
  CHECK(net.operators()[net.operators().size() - 2].in.height == 7);
}

// Normalisation, ReLU and convolution, in this order; the first convolution is the stem's.
TEST_CASE("a dense layer normalises before it convolves", "[generate]") {
  const Model densenet = model("densenet-201");
  CHECK(densenet.tensors[0].tensor == "features.conv0.weight");
  CHECK(densenet.tensors[3].tensor == "features.denseblock1.denselayer1.norm1.weight");
  CHECK(densenet.tensors[5].tensor == "features.denseblock1.denselayer1.conv1.weight");
  CHECK(densenet.tensors[8].tensor == "features.denseblock1.denselayer1.conv2.weight");
  CHECK(densenet.tensors[9].tensor == "features.denseblock1.denselayer2.norm1.weight");
  CHECK(densenet.tensors.back().tensor == "classifier.bias");
}

// At 224 the stem leaves 25 x 25, the reductions 12 x 12 and 5 x 5; 1536 channels go into the last
// layer.
TEST_CASE("Inception-V4 ends with 1536 channels", "[generate]") {
  CHECK(tensor(model("inception-v4"), "last_linear.weight").elements == 1536 * 1000);
  const Architecture net = inception_v4();
  CHECK(net.operators()[net.operators().size() - 2].in.height == 5);
}

TEST_CASE("a window that does not fit is our own defect", "[generate]") {
  Architecture tiny({3, 2, 2});
  CHECK_THROWS_AS(tiny.pool(square(3)), std::logic_error);
}
