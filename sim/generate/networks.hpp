// The networks of the paper's Table 2, at 224 x 224.
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

/// AlexNet, VGG-16 and ResNet-50 as torchvision has them, Inception-V4.
std::vector<Network> paper_networks();

Architecture alexnet();
Architecture vgg_16();
Architecture resnet_50();
Architecture inception_v4();

}  // namespace gradcast
