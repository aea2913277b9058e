// DenseNet as torchvision has it: in a dense block each layer reads the channels of all before it,
// and adds `growth` of its own.
#include <array>

#include "sim/generate/networks.hpp"

namespace gradcast {
namespace {

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
  const std::int64_t before = net.here().channels;
  unit(net, name, "1", kBottleneck * growth, square(1));
  unit(net, name, "2", growth, square(3, 1, 1));
  net.concatenate(before + growth);
}

/// Between two blocks: half the channels, half the height and width.
void transition(Architecture& net, const std::string& name) {
  unit(net, name, "", net.here().channels / 2, square(1));
  net.pool(square(2, 2));
}

/// `layers`: in each of the four dense blocks.
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
  return net;
}

}  // namespace

Architecture densenet_161() { return densenet(96, 48, {6, 12, 36, 24}); }

Architecture densenet_201() { return densenet(64, 32, {6, 12, 48, 32}); }

}  // namespace gradcast
