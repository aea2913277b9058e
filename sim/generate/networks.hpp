// The networks whose model files are generated.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/generate/architecture.hpp"

namespace gradcast {

struct Network {
  std::string name;
  std::string source;
  Architecture architecture;
  std::string sample = "one image of 224 x 224";  // the network's input
};

/// The networks of the paper's Table 2 (AlexNet, VGG-16, ResNet-50, Inception-V4), then those of
/// MG-WFBP's measurements (ResNet-152, DenseNet-161, DenseNet-201), then the others of the paper's
/// Table 1, then those of today: ResNet-101, ResNeXt, Wide ResNet and transformers.
std::vector<Network> all_networks();

/// Throws std::logic_error where there is none of that name.
const Network& network_named(std::string_view name);

Architecture alexnet();
Architecture vgg_16();
Architecture resnet_50();
Architecture resnet_50_cifar();
Architecture resnet_101();
Architecture resnet_152();
Architecture resnext_50_32x4d();
Architecture resnext_101_32x8d();
Architecture wide_resnet_101_2();
Architecture inception_v4();
Architecture densenet_161();
Architecture densenet_201();
Architecture fnn_3();
Architecture lenet_5();
Architecture resnet_20();
Architecture vgg_16_cifar();
Architecture lstm_ptb();
Architecture lstm_an4();

/// GPT-2, GPT-Neo, BERT, Llama and vision transformers.
std::vector<Network> transformers();

}  // namespace gradcast
