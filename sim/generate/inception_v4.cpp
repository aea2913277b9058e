// Inception-V4: a stem, then blocks of parallel branches whose channels are put together.
// Layers are named as in Cadene's PyTorch port (pretrained-models.pytorch@181b05d), where
// `features` is one Sequential. That port ends with an average over 8 x 8, the size at 299; at 224,
// as the paper ran it, 5 x 5 are left, and the average is over those.
#include "sim/generate/networks.hpp"

namespace gradcast {
namespace {

/// Convolution without bias, batch normalisation, ReLU.
struct Unit {
  std::int64_t channels;
  Window window;
};

/// A 1 x n or n x 1 window that keeps the size.
Window row(std::int64_t size) { return {1, size, 1, 0, size / 2}; }
Window column(std::int64_t size) { return {size, 1, 1, size / 2, 0}; }

void unit(Architecture& net, const std::string& name, const Unit& unit) {
  net.convolution(name + ".conv", unit.channels, unit.window, false);
  net.batch_norm(name + ".bn");
  net.relu();
}

/// Units one after another: name.0, name.1, ...
void chain(Architecture& net, const std::string& name, const std::vector<Unit>& units) {
  for (std::size_t i = 0; i < units.size(); ++i)
    unit(net, name + "." + std::to_string(i), units[i]);
}

/// Average pooling that keeps the size, then a unit.
void pooled(Architecture& net, const std::string& name, std::int64_t channels) {
  net.pool(square(3, 1, 1), Pooling::Average);
  unit(net, name + ".1", {channels, square(1)});
}

void mixed_3a(Architecture& net) {
  const Place in = net.here();
  net.pool(square(3, 2));
  net.from(in);
  unit(net, "features.3.conv", {96, square(3, 2)});
  net.concatenate(64 + 96);
}

void mixed_4a(Architecture& net) {
  const Place in = net.here();
  chain(net, "features.4.branch0", {{64, square(1)}, {96, square(3)}});
  net.from(in);
  chain(net, "features.4.branch1",
        {{64, square(1)}, {64, row(7)}, {64, column(7)}, {96, square(3)}});
  net.concatenate(96 + 96);
}

void mixed_5a(Architecture& net) {
  const Place in = net.here();
  unit(net, "features.5.conv", {192, square(3, 2)});
  net.from(in);
  net.pool(square(3, 2));
  net.concatenate(192 + 192);
}

void inception_a(Architecture& net, const std::string& name) {
  const Place in = net.here();
  unit(net, name + ".branch0", {96, square(1)});
  net.from(in);
  chain(net, name + ".branch1", {{64, square(1)}, {96, square(3, 1, 1)}});
  net.from(in);
  chain(net, name + ".branch2", {{64, square(1)}, {96, square(3, 1, 1)}, {96, square(3, 1, 1)}});
  net.from(in);
  pooled(net, name + ".branch3", 96);
  net.concatenate(std::int64_t{4} * 96);
}

void reduction_a(Architecture& net) {
  const Place in = net.here();
  unit(net, "features.10.branch0", {384, square(3, 2)});
  net.from(in);
  chain(net, "features.10.branch1",
        {{192, square(1)}, {224, square(3, 1, 1)}, {256, square(3, 2)}});
  net.from(in);
  net.pool(square(3, 2));
  net.concatenate(384 + 256 + 384);
}

void inception_b(Architecture& net, const std::string& name) {
  const Place in = net.here();
  unit(net, name + ".branch0", {384, square(1)});
  net.from(in);
  chain(net, name + ".branch1", {{192, square(1)}, {224, row(7)}, {256, column(7)}});
  net.from(in);
  chain(net, name + ".branch2",
        {{192, square(1)}, {192, column(7)}, {224, row(7)}, {224, column(7)}, {256, row(7)}});
  net.from(in);
  pooled(net, name + ".branch3", 128);
  net.concatenate(384 + 256 + 256 + 128);
}

void reduction_b(Architecture& net) {
  const Place in = net.here();
  chain(net, "features.18.branch0", {{192, square(1)}, {192, square(3, 2)}});
  net.from(in);
  chain(net, "features.18.branch1",
        {{256, square(1)}, {256, row(7)}, {320, column(7)}, {320, square(3, 2)}});
  net.from(in);
  net.pool(square(3, 2));
  net.concatenate(192 + 320 + 1024);
}

void inception_c(Architecture& net, const std::string& name) {
  const Place in = net.here();
  unit(net, name + ".branch0", {256, square(1)});
  net.from(in);
  unit(net, name + ".branch1_0", {384, square(1)});
  const Place fork = net.here();
  unit(net, name + ".branch1_1a", {256, row(3)});
  net.from(fork);
  unit(net, name + ".branch1_1b", {256, column(3)});
  net.from(in);
  unit(net, name + ".branch2_0", {384, square(1)});
  unit(net, name + ".branch2_1", {448, column(3)});
  unit(net, name + ".branch2_2", {512, row(3)});
  const Place second_fork = net.here();
  unit(net, name + ".branch2_3a", {256, row(3)});
  net.from(second_fork);
  unit(net, name + ".branch2_3b", {256, column(3)});
  net.from(in);
  pooled(net, name + ".branch3", 256);
  net.concatenate(std::int64_t{6} * 256);
}

}  // namespace

Architecture inception_v4() {
  Architecture net({3, 224, 224});
  unit(net, "features.0", {32, square(3, 2)});
  unit(net, "features.1", {32, square(3)});
  unit(net, "features.2", {64, square(3, 1, 1)});
  mixed_3a(net);
  mixed_4a(net);
  mixed_5a(net);
  for (int i = 6; i <= 9; ++i) inception_a(net, "features." + std::to_string(i));
  reduction_a(net);
  for (int i = 11; i <= 17; ++i) inception_b(net, "features." + std::to_string(i));
  reduction_b(net);
  for (int i = 19; i <= 21; ++i) inception_c(net, "features." + std::to_string(i));
  net.pool_to(1, 1);
  net.linear("last_linear", 1000);
  net.loss();
  return net;
}

}  // namespace gradcast
