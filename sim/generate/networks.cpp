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
  const Place in = net.here();
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
  net.loss();
  return net;
}

/// A layer's 1 x 1 convolution narrows what it reads to four times what it adds.
constexpr std::int64_t kBottleneck = 4;

/// Here normalisation comes first. `number` is a suffix of the names, as in "norm1".
void unit(Architecture& net, const std::string& name, const std::string& number,
          std::int64_t channels, const Window& window) {
  net.batch_norm(name + ".norm" + number);
  net.relu();
  net.convolution(name + ".conv" + number, channels, window, false);
}

void dense_layer(Architecture& net, const std::string& name, std::int64_t growth) {
  const std::int64_t before = net.here().shape.channels;
  unit(net, name, "1", kBottleneck * growth, square(1));
  unit(net, name, "2", growth, square(3, 1, 1));
  net.concatenate(before + growth);
}

/// Between two blocks: half the channels, half the height and width.
void transition(Architecture& net, const std::string& name) {
  unit(net, name, "", net.here().shape.channels / 2, square(1));
  net.pool(square(2, 2), Pooling::Average);
}

/// DenseNet as torchvision has it: in a dense block each layer reads the channels of all before it,
/// and adds `growth` of its own. `layers`: in each of the four dense blocks.
Architecture densenet(std::int64_t first_channels, std::int64_t growth,
                      const std::array<int, 4>& layers) {
  Architecture net({3, 224, 224});
  net.convolution("features.conv0", first_channels, square(7, 2, 3), false);
  net.batch_norm("features.norm0");
  net.relu();
  net.pool(square(3, 2, 1));
  int block = 0;
  for (const int count : layers) {
    if (block > 0) transition(net, "features.transition" + std::to_string(block));
    ++block;
    for (int layer = 1; layer <= count; ++layer)
      dense_layer(
          net,
          "features.denseblock" + std::to_string(block) + ".denselayer" + std::to_string(layer),
          growth);
  }
  net.batch_norm("features.norm5");
  net.relu();
  net.pool_to(1, 1);
  net.linear("classifier", 1000);
  net.loss();
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
  net.dropout();
  net.linear("classifier.1", 4096);
  net.relu();
  net.dropout();
  net.linear("classifier.4", 4096);
  net.relu();
  net.linear("classifier.6", 1000);
  net.loss();
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
  net.dropout();
  net.linear("classifier.3", 4096);
  net.relu();
  net.dropout();
  net.linear("classifier.6", 1000);
  net.loss();
  return net;
}

Architecture resnet_50() { return resnet({3, 4, 6, 3}, false, 1000); }

// ResNet-50 of vineeths96/Gradient-Compression@e5b61b1 (models/resnet.py): 23,520,842 parameters.
Architecture resnet_50_cifar() { return resnet({3, 4, 6, 3}, true, 10); }

Architecture resnet_101() { return resnet({3, 4, 23, 3}, false, 1000); }

Architecture resnet_152() { return resnet({3, 8, 36, 3}, false, 1000); }

Architecture densenet_161() { return densenet(96, 48, {6, 12, 36, 24}); }

Architecture densenet_201() { return densenet(64, 32, {6, 12, 48, 32}); }

// The two recurrent networks in Table 1 of "Understanding Top-k Sparsification in Distributed Deep
// Learning", with as many parameters as it says.

// A sample is a sequence of 35 words, through which gradients go back (Zaremba et al.'s large
// model, 66,034,000 parameters; named as in models/lstm.py of hclhkbu/gtopkssgd@0edc19b). The last
// layer has a table of its own, not the embedding's.
Architecture lstm_ptb() {
  constexpr std::int64_t kWords = 10'000;
  constexpr std::int64_t kWidth = 1'500;
  Architecture net({1, 1, 35});
  net.embedding("word_embeddings", kWords, kWidth);
  net.dropout();
  net.lstm("lstm", 0, kWidth);
  net.dropout();
  net.lstm("lstm", 1, kWidth);
  net.dropout();
  net.linear_of_steps("sm_fc", kWords, true);
  net.loss();
  return net;
}

// A sample is taken as one second of speech: 101 spectra, 10 ms apart, of 161 frequencies each (20
// ms at 16 kHz; models/lstman4.py of the same repository). deepspeech.pytorch has had several
// variants; this one has 27,569,568 parameters. Its convolutions have biases and are padded by half
// their kernel, so that 32 x 41 features are left of a spectrum. Its LSTMs run in one direction,
// with both biases and a normalisation before each but the first. A lookahead over 20 further steps
// has 21 weights a feature. The last layer, without biases, follows a normalisation. Names are
// those of its modules.
Architecture lstm_an4() {
  constexpr std::int64_t kHidden = 800;
  Architecture net({1, 161, 101});
  net.convolution("conv.seq_module.0", 32, {41, 11, 2, 20, 5}, true);
  net.batch_norm("conv.seq_module.1");
  net.relu();  // limited above too: Hardtanh
  net.convolution("conv.seq_module.3", 32, {21, 11, 2, 10, 5, 1}, true);
  net.batch_norm("conv.seq_module.4");
  net.relu();
  net.columns_as_steps();
  for (int layer = 0; layer < 5; ++layer) {
    const std::string name = "rnns." + std::to_string(layer);
    if (layer > 0) net.batch_norm(name + ".batch_norm.module");
    net.lstm(name + ".rnn", 0, kHidden);
  }
  net.lookahead("lookahead.0", 20);
  net.relu();
  net.batch_norm("fc.0.module.0");
  net.linear_of_steps("fc.0.module.1", 29, false);
  net.loss();
  return net;
}

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
