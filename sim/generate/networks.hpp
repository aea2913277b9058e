// The networks whose model files and traces are generated, at 224 x 224.
#pragma once
#include <string>
#include <vector>

#include "sim/generate/architecture.hpp"

namespace gradcast {

struct Network {
  std::string name;
  std::string source;
  Architecture architecture;
};

/// Those of the paper's Table 2 (AlexNet, VGG-16, ResNet-50, Inception-V4), then those of MG-WFBP's
/// measurements (ResNet-152, DenseNet-161, DenseNet-201).
std::vector<Network> all_networks();

Architecture alexnet();
Architecture vgg_16();
Architecture resnet_50();
Architecture resnet_152();
Architecture inception_v4();
Architecture densenet_161();
Architecture densenet_201();

}  // namespace gradcast
