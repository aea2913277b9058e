#include "sim/lab/networks.hpp"

#include <array>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/lab/layers/layers.hpp"

namespace gradcast::lab {
namespace {

/// Layers, each with the shape that the one before it gives.
template <class Real>
class Stack {
 public:
  explicit Stack(Shape input) : shape_(input) {}

  template <template <class> class Kind, class... Arguments>
  Stack& add(std::string name, Arguments... arguments) {
    auto layer = std::make_unique<Kind<Real>>(shape_, arguments...);
    shape_ = layer->output();
    layers_.push_back({std::move(name), std::move(layer)});
    return *this;
  }
  /// The network with `positions` labels a sample.
  Network<Real> network(int positions = 1) { return Network<Real>(std::move(layers_), positions); }

 private:
  Shape shape_;
  std::vector<NamedLayer<Real>> layers_;
};

void require_image(std::string_view network, Shape input, int multiple) {
  if (input.height % multiple == 0 && input.width % multiple == 0 && input.height >= 12 &&
      input.width >= 12)
    return;
  throw ValueError(std::string(network) +
                   " takes images of at least 12 x 12 whose height and width " + "divide by " +
                   std::to_string(multiple) + ", and these are " + std::to_string(input.height) +
                   " x " + std::to_string(input.width));
}

/// Understanding Top-k Sparsification, Table 1; sizes of layers from its authors' code.
template <class Real>
Network<Real> fnn_3(Shape input, int classes) {
  Stack<Real> stack({static_cast<int>(input.size()), 1, 1});
  stack.template add<FullyConnected>("fc1", 200).template add<Rectifier>("relu1");
  stack.template add<FullyConnected>("fc2", 200).template add<Rectifier>("relu2");
  stack.template add<FullyConnected>("fc3", classes);
  return stack.network();
}

/// LeCun et al., 1998, as it is built today: max-pooling, rectifiers, and all planes connected.
template <class Real>
Network<Real> lenet_5(Shape input, int classes) {
  require_image("lenet-5", input, 4);
  Stack<Real> stack(input);
  stack.template add<Convolution>("conv1", 6, Kernel{.size = 5, .padding = 2});
  stack.template add<Rectifier>("relu1").template add<MaxPooling>("pool1");
  stack.template add<Convolution>("conv2", 16, Kernel{.size = 5});
  stack.template add<Rectifier>("relu2").template add<MaxPooling>("pool2");
  stack.template add<FullyConnected>("fc1", 120).template add<Rectifier>("relu3");
  stack.template add<FullyConnected>("fc2", 84).template add<Rectifier>("relu4");
  stack.template add<FullyConnected>("fc3", classes);
  return stack.network();
}

/// He et al., 2015, section 4.2, with n = 1 and half of the channels. Groups (Wu and He, 2018)
/// normalise in place of batches: they have no running averages that workers would have to share.
template <class Real>
Network<Real> resnet_8(Shape input, int classes) {
  require_image("resnet-8", input, 4);
  Stack<Real> stack(input);
  stack.template add<Convolution>("conv1", 8, Kernel{.padding = 1, .bias = false});
  stack.template add<GroupNorm>("norm1", 4).template add<Rectifier>("relu1");
  stack.template add<Residual>("block1", 8, 1);
  stack.template add<Residual>("block2", 16, 2);
  stack.template add<Residual>("block3", 32, 2);
  stack.template add<MeanPooling>("pool");
  stack.template add<FullyConnected>("fc", classes);
  return stack.network();
}

/// Embedding, LSTM, and a class for each position: about the smallest network that learns words.
template <class Real>
Network<Real> char_lstm(Shape input, int classes) {
  constexpr int kWidth = 32;
  constexpr int kUnits = 128;
  const auto positions = static_cast<int>(input.size());
  Stack<Real> stack({positions, 1, 1});
  stack.template add<Embedding>("embedding", classes, kWidth);
  stack.template add<Lstm>("lstm", kUnits);
  stack.template add<FullyConnected>("fc", classes, positions);
  return stack.network(positions);
}

#define NETWORK(function, name, summary, takes, batch, learning_rate)     \
  NetworkKind{name,          summary,         DatasetKind::takes, #batch, \
              learning_rate, function<float>, function<double>},
constexpr std::array kNetworks{
#include "sim/lab/networks.def"
};
#undef NETWORK

}  // namespace

std::span<const NetworkKind> all_networks() { return kNetworks; }

const NetworkKind& find_network(std::string_view name) {
  std::vector<std::string> known;
  for (const NetworkKind& kind : kNetworks) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  throw ValueError("unknown network '" + std::string(name) + "'" +
                   did_you_mean(std::string(name), known) + " (known: " + join(known) + ")");
}

}  // namespace gradcast::lab
