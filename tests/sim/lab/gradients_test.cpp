// Gradients against finite differences, in double.
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/lab/draws.hpp"
#include "sim/lab/layers/layers.hpp"
#include "sim/lab/networks.hpp"

using namespace gradcast;
using namespace gradcast::lab;

namespace {

constexpr int kSamples = 3;
constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-6;  // relative to the largest derivative

std::vector<double> drawn(std::size_t count, std::uint64_t part) {
  Draws draws(1, Draw::Samples, part);
  std::vector<double> values(count);
  for (double& value : values) value = 2 * draws.next() - 1;
  return values;
}

/// d f / d x at x, from f half a step to either side of each element, to the fourth order:
/// (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h.
template <class F>
std::vector<double> differences(std::vector<double> x, F f) {
  std::vector<double> result;
  for (double& element : x) {
    const double kept = element;
    const auto at = [&](double step) {
      element = kept + step;
      return f(x);
    };
    const double near = at(kStep) - at(-kStep);
    const double far = at(2 * kStep) - at(-2 * kStep);
    result.push_back((8 * near - far) / (12 * kStep));
    element = kept;
  }
  return result;
}

void require_close(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  double largest = 0;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[i] - wanted[i]) <= kTolerance * std::max(largest, 1e-3));
  }
}

/// The loss is the sum of outputs, each times a number drawn for it.
void check_layer(Layer<double>& layer) {
  const std::vector<double> in = drawn(kSamples * layer.input().size(), 1);
  const std::vector<double> parameters = drawn(parameter_count(layer), 2);
  const std::vector<double> d_out = drawn(kSamples * layer.output().size(), 3);
  std::vector<double> out(d_out.size());
  const auto loss = [&](const std::vector<double>& p, const std::vector<double>& x) {
    layer.forward(p.data(), x.data(), kSamples, out.data());
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) sum += d_out[i] * out[i];
    return sum;
  };
  loss(parameters, in);
  std::vector<double> d_in(in.size());
  std::vector<double> d_parameters(parameters.size());
  layer.backward(parameters.data(), in.data(), out.data(), d_out.data(), kSamples, d_in.data(),
                 d_parameters.data());
  require_close(d_in, differences(in, [&](const auto& x) { return loss(parameters, x); }));
  require_close(d_parameters, differences(parameters, [&](const auto& p) { return loss(p, in); }));

  // Without the inputs' gradient, that of the parameters is the same.
  std::vector<double> alone(parameters.size());
  loss(parameters, in);
  layer.backward(parameters.data(), in.data(), out.data(), d_out.data(), kSamples, nullptr,
                 alone.data());
  CHECK(alone == d_parameters);
}

}  // namespace

TEST_CASE("each layer's gradient is that of finite differences", "[lab]") {
  const Shape planes{4, 6, 6};
  std::vector<std::unique_ptr<Layer<double>>> layers;
  layers.push_back(std::make_unique<FullyConnected<double>>(Shape{7, 1, 1}, 5));
  layers.push_back(std::make_unique<FullyConnected<double>>(Shape{4, 1, 3}, 5, 4));
  layers.push_back(std::make_unique<Lstm<double>>(Shape{5, 1, 3}, 4));
  layers.push_back(std::make_unique<Lstm<double>>(Shape{1, 1, 3}, 2));
  layers.push_back(std::make_unique<Rectifier<double>>(planes));
  layers.push_back(std::make_unique<MaxPooling<double>>(planes));
  layers.push_back(std::make_unique<MeanPooling<double>>(planes));
  layers.push_back(std::make_unique<GroupNorm<double>>(planes, 2));
  layers.push_back(std::make_unique<Convolution<double>>(planes, 3, Kernel{.size = 3}));
  layers.push_back(
      std::make_unique<Convolution<double>>(planes, 3, Kernel{.size = 5, .padding = 2}));
  layers.push_back(std::make_unique<Convolution<double>>(
      planes, 3, Kernel{.size = 3, .stride = 2, .padding = 1, .bias = false}));
  // Kernels, strides and paddings that leave rows out or reach far beyond them; planes of more than
  // one register, not square.
  const Shape oblong{2, 7, 11};
  for (const Kernel kernel :
       {Kernel{.size = 1, .stride = 2}, Kernel{.size = 1, .padding = 1},
        Kernel{.size = 2, .stride = 3, .padding = 1}, Kernel{.size = 3, .stride = 2},
        Kernel{.size = 4, .stride = 3, .padding = 2}, Kernel{.size = 5, .stride = 2, .padding = 4}})
    layers.push_back(std::make_unique<Convolution<double>>(oblong, 5, kernel));
  layers.push_back(std::make_unique<GroupNorm<double>>(Shape{6, 5, 7}, 3));
  layers.push_back(std::make_unique<Residual<double>>(planes, 4, 1));
  layers.push_back(std::make_unique<Residual<double>>(planes, 8, 2));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    CAPTURE(i);
    check_layer(*layers[i]);
  }
}

// Tokens 2, 0, 2 of three: rows 2 and 0 of the table; row 2's gradient is the sum of both its
// places.
TEST_CASE("an embedding is rows of its table, and its gradient adds up what each row gets",
          "[lab]") {
  Embedding<double> layer({3, 1, 1}, 3, 2);
  const std::vector<double> table{1, 2, 3, 4, 5, 6};
  const std::vector<double> in{2, 0, 2};
  std::vector<double> out(6);
  layer.forward(table.data(), in.data(), 1, out.data());
  CHECK(out == std::vector<double>{5, 6, 1, 2, 5, 6});
  const std::vector<double> d_out{1, 10, 100, 1000, 2, 20};
  std::vector<double> d_table(6, -1);
  std::vector<double> d_in(3, -1);
  layer.backward(table.data(), in.data(), out.data(), d_out.data(), 1, d_in.data(), d_table.data());
  CHECK(d_table == std::vector<double>{100, 1000, 0, 0, 3, 30});
  CHECK(d_in == std::vector<double>{0, 0, 0});
}

// One unit, one input, two positions of 1; W = U = 1 and b = 0 for all gates.
// Position 1: a = 1, i = o = s(1) = 0.73106, f = s(2), g = tanh 1 = 0.76159; c = i g = 0.55677,
// h = o tanh c = 0.73106 x 0.50554 = 0.36958.
// Position 2: a = 1.36958, i = o = 0.79730, f = s(2.36958) = 0.91446, g = 0.87871;
// c = 0.91446 x 0.55677 + 0.79730 x 0.87871 = 1.20974, h = 0.79730 x 0.83662 = 0.66704.
TEST_CASE("an LSTM of one unit gives what a pocket calculator gives", "[lab]") {
  Lstm<double> layer({2, 1, 1}, 1);
  const std::vector<double> parameters{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0};
  const std::vector<double> in{1, 1};
  std::vector<double> out(2);
  layer.forward(parameters.data(), in.data(), 1, out.data());
  CHECK(out[0] == Approx(0.36958).epsilon(1e-4));
  CHECK(out[1] == Approx(0.66704).epsilon(1e-4));
}

// 2 channels of 7 x 11, 5 outputs. Whole numbers: every order of additions gives the same.
TEST_CASE("a convolution is what its definition says", "[lab]") {
  const Shape in{2, 7, 11};
  for (const Kernel kernel : {Kernel{.size = 3, .padding = 1}, Kernel{.size = 3, .stride = 2},
                              Kernel{.size = 5, .stride = 2, .padding = 2}, Kernel{.size = 1},
                              Kernel{.size = 2, .stride = 3, .padding = 1}}) {
    CAPTURE(kernel.size, kernel.stride, kernel.padding);
    Convolution<float> layer(in, 5, kernel);
    const Shape out = layer.output();
    std::vector<float> parameters(parameter_count(layer));
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i] = static_cast<float>(i % 7) - 3;
    std::vector<float> from(2 * in.size());
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i % 11) - 5;
    std::vector<float> found(2 * out.size());
    layer.forward(parameters.data(), from.data(), 2, found.data());
    std::vector<float> wanted;
    const auto at = [&](int sample, int channel, int y, int x) {
      if (y < 0 || y >= in.height || x < 0 || x >= in.width) return 0.0f;
      return from[static_cast<std::size_t>(
          ((sample * in.channels + channel) * in.height + y) * in.width + x)];
    };
    for (int sample = 0; sample < 2; ++sample)
      for (int output = 0; output < out.channels; ++output)
        for (int y = 0; y < out.height; ++y)
          for (int x = 0; x < out.width; ++x) {
            const float* weight =
                parameters.data() + output * in.channels * kernel.size * kernel.size;
            float sum = parameters[parameters.size() - 5 + static_cast<std::size_t>(output)];
            for (int channel = 0; channel < in.channels; ++channel)
              for (int dy = 0; dy < kernel.size; ++dy)
                for (int dx = 0; dx < kernel.size; ++dx)
                  sum += *weight++ * at(sample, channel, y * kernel.stride + dy - kernel.padding,
                                        x * kernel.stride + dx - kernel.padding);
            wanted.push_back(sum);
          }
    CHECK(found == wanted);
  }
}

// The first of equals wins: 3 in the row above, then 1 on the left; a whole window of 0.
TEST_CASE("max-pooling gives its gradient to the first of equals", "[lab]") {
  MaxPooling<float> layer({1, 2, 6});
  const std::vector<float> in{2, 3, 1, 0, 0, 0,  //
                              3, 1, 1, 0, 0, 0};
  std::vector<float> out(3);
  layer.forward(nullptr, in.data(), 1, out.data());
  CHECK(out == std::vector<float>{3, 1, 0});
  const std::vector<float> d_out{5, 6, 7};
  std::vector<float> d_in(12, -1.0f);
  layer.backward(nullptr, in.data(), out.data(), d_out.data(), 1, d_in.data(), nullptr);
  CHECK(d_in == std::vector<float>{0, 5, 6, 0, 7, 0,  //
                                   0, 0, 0, 0, 0, 0});
}

TEST_CASE("a whole network's gradient is that of finite differences", "[lab]") {
  for (const NetworkKind& kind : all_networks()) {
    CAPTURE(kind.name);
    const bool text = kind.takes == DatasetKind::Text;
    const Shape input = text ? Shape{3, 1, 1} : Shape{1, 12, 12};
    Network<double> network = kind.make_double(input, 4);
    CHECK(network.classes() == 4);
    std::vector<double> in = drawn(kSamples * input.size(), 4);
    std::vector<std::uint8_t> labels{0, 3, 1};
    if (text) {
      in = {0, 3, 1, 2, 2, 0, 1, 3, 3};
      labels = {3, 1, 2, 2, 0, 1, 3, 3, 0};  // one a position
    }
    std::vector<double> parameters = network.first_parameters(1);
    std::vector<double> gradient(network.size());
    network.loss_and_gradient(parameters, in, labels, gradient);
    std::vector<double> unused(network.size());
    // Some of each tensor: all of them would take minutes.
    std::size_t first = 0;
    for (const ParameterTensor& tensor : network.tensors()) {
      for (std::size_t n = 0; n < std::min<std::size_t>(tensor.elements, 4); ++n) {
        const std::size_t place = first + n * (tensor.elements - 1) / 4;
        const double kept = parameters[place];
        const auto at = [&](double step) {
          parameters[place] = kept + step;
          return network.loss_and_gradient(parameters, in, labels, unused);
        };
        const double wanted =
            (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
        parameters[place] = kept;
        CAPTURE(tensor.name, n, gradient[place]);
        CHECK(std::abs(gradient[place] - wanted) <= kTolerance * std::max(std::abs(wanted), 1e-3));
      }
      first += tensor.elements;
    }
  }
}

TEST_CASE("networks have the parameters that the paper counts", "[lab]") {
  const Shape image{1, 28, 28};
  // Understanding Top-k Sparsification, Table 1.
  CHECK(find_network("fnn-3").make(image, 10).size() == 199'210);
  CHECK(find_network("lenet-5").make(image, 10).size() == 61'706);
  // conv1 72, its norm 16; blocks: 2 x 576 + 32; 1152 + 2304 + 128 + 64 + 32; 4608 + 9216 + 512
  // + 128 + 64; the last layer 330.
  CHECK(find_network("resnet-8").make(image, 10).size() == 72 + 16 + (2 * 576 + 2 * 16) +
                                                               (1152 + 2304 + 128 + 3 * 32) +
                                                               (4608 + 9216 + 512 + 3 * 64) + 330);
  // 60 characters: a table of 60 x 32; four gates of 128 units from 32 inputs, 128 units and a
  // bias; 60 classes from 128 units.
  CHECK(find_network("char-lstm").make({64, 1, 1}, 60).size() ==
        60 * 32 + 4 * 128 * (32 + 128 + 1) + 60 * (128 + 1));
}
