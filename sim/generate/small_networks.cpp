// The networks for small images in Table 1 of "Understanding Top-k Sparsification in Distributed
// Deep Learning", with as many parameters as it says.
#include "sim/generate/networks.hpp"

namespace gradcast {
namespace {

constexpr Shape kMnist{1, 28, 28};
constexpr Shape kCifar{3, 32, 32};

/// Two 3 x 3 convolutions, each normalised, and a shortcut around them. If the shape changes, the
/// shortcut takes every other pixel and fills up with zeros (He et al.'s option A): it has no
/// parameters, and so costs nothing here.
void basic_block(Architecture& net, const std::string& name, std::int64_t width,
                 std::int64_t stride) {
  net.convolution(name + ".conv1", width, square(3, stride, 1), false);
  net.batch_norm(name + ".bn1");
  net.relu();
  net.convolution(name + ".conv2", width, square(3, 1, 1), false);
  net.batch_norm(name + ".bn2");
  net.add();
  net.relu();
}

}  // namespace

// The table says 199,210 parameters and not the widths: 200 is the one width that two equal hidden
// layers can have.
Architecture fnn_3() {
  Architecture net(kMnist);
  net.linear("fc1", 200);
  net.relu();
  net.linear("fc2", 200);
  net.relu();
  net.linear("fc3", 10);
  net.loss();
  return net;
}

// LeNet-5 was made for 32 x 32: the padding makes that of MNIST's 28 x 28.
Architecture lenet_5() {
  Architecture net(kMnist);
  net.convolution("conv1", 6, square(5, 1, 2), true);
  net.relu();
  net.pool(square(2, 2));
  net.convolution("conv2", 16, square(5), true);
  net.relu();
  net.pool(square(2, 2));
  net.linear("fc1", 120);
  net.relu();
  net.linear("fc2", 84);
  net.relu();
  net.linear("fc3", 10);
  net.loss();
  return net;
}

Architecture resnet_20() {
  Architecture net(kCifar);
  net.convolution("conv1", 16, square(3, 1, 1), false);
  net.batch_norm("bn1");
  net.relu();
  for (int stage = 1; stage <= 3; ++stage)
    for (int block = 0; block < 3; ++block)
      basic_block(net, "layer" + std::to_string(stage) + "." + std::to_string(block),
                  std::int64_t{8} << stage, block == 0 && stage > 1 ? 2 : 1);
  net.pool_to(1, 1);
  net.linear("fc", 10);
  net.loss();
  return net;
}

// VGG-16 of hclhkbu/gtopkssgd@0edc19b (models/vgg.py). Convolutions keep their biases, though the
// normalisation behind each takes them out again: only so are there 14,728,266 parameters.
Architecture vgg_16_cifar() {
  Architecture net(kCifar);
  int number = 0;  // in the Sequential: convolution, normalisation, ReLU, ..., pooling
  for (const auto& [channels, convolutions] :
       {std::pair{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < convolutions; ++i, number += 3) {
      net.convolution("features." + std::to_string(number), channels, square(3, 1, 1), true);
      net.batch_norm("features." + std::to_string(number + 1));
      net.relu();
    }
    net.pool(square(2, 2));
    ++number;
  }
  net.linear("fc", 10);
  net.loss();
  return net;
}

}  // namespace gradcast
