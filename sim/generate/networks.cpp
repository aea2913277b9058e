#include "sim/generate/networks.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

namespace gradcast {
namespace {

constexpr Shape kImage{3, 224, 224};
constexpr Shape kSmallImage{3, 32, 32};

/// Shape of the bottlenecks, by torchvision's names. ResNeXt has many groups, Wide ResNet one wide
/// group.
struct BottleneckShape {
  std::int64_t groups = 1;
  std::int64_t width_per_group = 64;  // in the first stage
};

/// One of ResNet's bottlenecks: 1x1, 3x3 and 1x1, each normalised, and a shortcut around them.
/// `inner` channels within, `outer` behind it.
void bottleneck(Architecture& net, const std::string& name, std::int64_t inner, std::int64_t outer,
                std::int64_t groups, std::int64_t stride, bool project) {
  const Shape in = net.here();
  net.convolution(name + ".conv1", inner, square(1), false);
  net.batch_norm(name + ".bn1");
  net.relu();
  net.convolution(name + ".conv2", inner, square(3, stride, 1), false, groups);
  net.batch_norm(name + ".bn2");
  net.relu();
  net.convolution(name + ".conv3", outer, square(1), false);
  net.batch_norm(name + ".bn3");
  if (project) {
    net.from(in);
    net.convolution(name + ".downsample.0", outer, square(1, stride), false);
    net.batch_norm(name + ".downsample.1");
  }
  net.add();
  net.relu();
}

/// `blocks`: bottlenecks in each of the four stages, whose width doubles from 64. Small images are
/// not made smaller before the first stage.
Architecture resnet(const std::array<int, 4>& blocks, bool small, std::int64_t classes,
                    const BottleneckShape& shape = {}) {
  Architecture net(small ? kSmallImage : kImage);
  net.unit("stem");
  net.convolution("conv1", 64, small ? square(3, 1, 1) : square(7, 2, 3), false);
  net.batch_norm("bn1");
  net.relu();
  if (!small) net.pool(square(3, 2, 1));
  int stage = 1;
  std::int64_t width = 64;
  for (const int count : blocks) {
    for (int block = 0; block < count; ++block) {
      const std::string name = "layer" + std::to_string(stage) + "." + std::to_string(block);
      net.unit(name);
      bottleneck(net, name, width * shape.width_per_group / 64 * shape.groups, 4 * width,
                 shape.groups, block == 0 && stage > 1 ? 2 : 1, block == 0);
    }
    ++stage;
    width *= 2;
  }
  net.pool_to(1, 1);
  net.unit("head");
  net.linear("fc", classes);
  return net;
}

}  // namespace

std::vector<Network> all_networks() {
  const std::string cifar = "one image of 32 x 32";
  const std::string mnist = "one image of 28 x 28 in grey";
  std::vector<Network> all{
      {"alexnet", "torchvision alexnet, 1000 classes", alexnet()},
      {"vgg-16", "torchvision vgg16, 1000 classes", vgg_16()},
      {"resnet-50", "torchvision resnet50, 1000 classes", resnet_50()},
      {"inception-v4",
       "Szegedy et al., AAAI 2017, as in Cadene's pretrained-models.pytorch, 1000 classes",
       inception_v4()},
      {"resnet-152", "torchvision resnet152, 1000 classes", resnet_152()},
      {"densenet-161", "torchvision densenet161, 1000 classes", densenet_161()},
      {"densenet-201", "torchvision densenet201, 1000 classes", densenet_201()},
      {"fnn-3", "784-200-200-10 for MNIST", fnn_3(), mnist},
      {"lenet-5", "LeCun et al. 1998, with all maps connected, for MNIST", lenet_5(), mnist},
      {"resnet-20", "He et al. 2016, section 4.2, for CIFAR-10", resnet_20(), cifar},
      {"vgg-16-cifar", "VGG-16 with batch normalisation and one dense layer, for CIFAR-10",
       vgg_16_cifar(), cifar},
      {"resnet-50-cifar", "torchvision resnet50 with a 3 x 3 stem and no pooling, for CIFAR-10",
       resnet_50_cifar(), cifar},
      {"lstm-ptb", "Zaremba et al. 2014, large, for Penn Treebank with 10000 words", lstm_ptb(),
       "one sequence of 35 words"},
      {"lstm-an4", "SeanNaren/deepspeech.pytorch with 5 LSTM layers of 800, 29 labels, for AN4",
       lstm_an4(), "one second of speech"},
      {"resnet-101", "torchvision resnet101, 1000 classes", resnet_101()},
      {"resnext-50-32x4d", "torchvision resnext50_32x4d, 1000 classes", resnext_50_32x4d()},
      {"resnext-101-32x8d", "torchvision resnext101_32x8d, 1000 classes", resnext_101_32x8d()},
      {"wide-resnet-101-2", "torchvision wide_resnet101_2, 1000 classes", wide_resnet_101_2()}};
  std::ranges::move(transformers(), std::back_inserter(all));
  return all;
}

const Network& network_named(std::string_view name) {
  static const std::vector<Network> kAll = all_networks();
  for (const Network& network : kAll)
    if (network.name == name) return network;
  throw std::logic_error("no network '" + std::string(name) + "'");
}

// Krizhevsky's "one weird trick" variant. Layers are numbered as in torchvision's Sequentials,
// where ReLU, pooling and dropout have numbers too.
Architecture alexnet() {
  Architecture net(kImage);
  const auto convolution = [&](const char* layer, std::int64_t channels, const Window& window) {
    net.convolution(layer, channels, window, true);
    net.relu();
  };
  convolution("features.0", 64, square(11, 4, 2));
  net.pool(square(3, 2));
  convolution("features.3", 192, square(5, 1, 2));
  net.pool(square(3, 2));
  convolution("features.6", 384, square(3, 1, 1));
  convolution("features.8", 256, square(3, 1, 1));
  convolution("features.10", 256, square(3, 1, 1));
  net.pool(square(3, 2));
  net.linear("classifier.1", 4096);
  net.relu();
  net.linear("classifier.4", 4096);
  net.relu();
  net.linear("classifier.6", 1000);
  return net;
}

Architecture vgg_16() {
  Architecture net(kImage);
  int number = 0;  // in torchvision's Sequential: convolution, ReLU, ..., pooling
  for (const auto& [channels, convolutions] :
       {std::pair{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < convolutions; ++i, number += 2) {
      net.convolution("features." + std::to_string(number), channels, square(3, 1, 1), true);
      net.relu();
    }
    net.pool(square(2, 2));
    ++number;
  }
  net.linear("classifier.0", 4096);
  net.relu();
  net.linear("classifier.3", 4096);
  net.relu();
  net.linear("classifier.6", 1000);
  return net;
}

Architecture resnet_50() { return resnet({3, 4, 6, 3}, false, 1000); }

// As vineeths96/Gradient-Compression@e5b61b1 has it (models/resnet.py): 23,520,842 parameters.
Architecture resnet_50_cifar() { return resnet({3, 4, 6, 3}, true, 10); }

Architecture resnet_101() { return resnet({3, 4, 23, 3}, false, 1000); }

Architecture resnet_152() { return resnet({3, 8, 36, 3}, false, 1000); }

Architecture resnext_50_32x4d() {
  return resnet({3, 4, 6, 3}, false, 1000, {.groups = 32, .width_per_group = 4});
}

Architecture resnext_101_32x8d() {
  return resnet({3, 4, 23, 3}, false, 1000, {.groups = 32, .width_per_group = 8});
}

Architecture wide_resnet_101_2() {
  return resnet({3, 4, 23, 3}, false, 1000, {.groups = 1, .width_per_group = 128});
}

}  // namespace gradcast
