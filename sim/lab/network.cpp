#include "sim/lab/network.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/lab/draws.hpp"

namespace gradcast::lab {
namespace {

double first_value(const ParameterTensor& tensor, Draws& draws) {
  switch (tensor.kind) {
    case ParameterKind::Weight:
      return (2 * draws.next() - 1) * std::sqrt(6 / static_cast<double>(tensor.fan_in));
    case ParameterKind::GateWeight:
      return (2 * draws.next() - 1) / std::sqrt(static_cast<double>(tensor.fan_in));
    case ParameterKind::Scale:
      return 1;
    case ParameterKind::Bias:
    case ParameterKind::Shift:
      return 0;
  }
  throw std::logic_error("no such kind of parameter");
}

}  // namespace

template <class Real>
Network<Real>::Network(std::vector<NamedLayer<Real>> layers, int positions)
    : layers_(std::move(layers)), positions_(positions), outputs_(layers_.size()) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0 && layers_[i].layer->input() != layers_[i - 1].layer->output())
      throw std::invalid_argument("layer " + layers_[i].name + " takes another shape than it gets");
    first_.push_back(size_);
    for (ParameterTensor tensor : layers_[i].layer->parameters()) {
      tensor.name = layers_[i].name + "." + tensor.name;
      size_ += tensor.elements;
      tensors_.push_back(std::move(tensor));
    }
  }
}

template <class Real>
std::vector<Real> Network<Real>::first_parameters(std::uint64_t seed) const {
  std::vector<Real> parameters;
  parameters.reserve(size_);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    Draws draws(seed, Draw::Parameters, i);
    for (std::size_t n = 0; n < tensors_[i].elements; ++n)
      parameters.push_back(static_cast<Real>(first_value(tensors_[i], draws)));
  }
  return parameters;
}

template <class Real>
void Network<Real>::run_forward(const Real* parameters, const Real* inputs, int samples) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer<Real>& layer = *layers_[i].layer;
    grow(outputs_[i], static_cast<std::size_t>(samples) * layer.output().size());
    layer.forward(parameters + first_[i], inputs, samples, outputs_[i].data());
    inputs = outputs_[i].data();
  }
}

template <class Real>
double Network<Real>::loss_at_outputs(std::span<const std::uint8_t> labels) {
  const auto count = static_cast<std::size_t>(classes());
  const auto all = static_cast<Real>(labels.size());
  grow(d_out_, labels.size() * count);
  double loss = 0;
  for (std::size_t place = 0; place < labels.size(); ++place) {
    const Real* out = outputs_.back().data() + place * count;
    Real* d_out = d_out_.data() + place * count;
    const Real largest = *std::max_element(out, out + count);  // so that no exponential overflows
    Real sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += d_out[i] = std::exp(out[i] - largest);
    for (std::size_t i = 0; i < count; ++i) d_out[i] /= sum * all;
    d_out[labels[place]] -= 1 / all;
    loss += static_cast<double>(std::log(sum) + largest - out[labels[place]]);
  }
  return loss / static_cast<double>(labels.size());
}

template <class Real>
double Network<Real>::loss_and_gradient(std::span<const Real> parameters,
                                        std::span<const Real> inputs,
                                        std::span<const std::uint8_t> labels,
                                        std::span<Real> gradient) {
  const int samples = samples_of(labels);
  run_forward(parameters.data(), inputs.data(), samples);
  const double loss = loss_at_outputs(labels);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Layer<Real>& layer = *layers_[i].layer;
    const Real* in = i == 0 ? inputs.data() : outputs_[i - 1].data();
    // The data's own gradient is of no use.
    if (i > 0) grow(d_in_, static_cast<std::size_t>(samples) * layer.input().size());
    layer.backward(parameters.data() + first_[i], in, outputs_[i].data(), d_out_.data(), samples,
                   i == 0 ? nullptr : d_in_.data(), gradient.data() + first_[i]);
    std::swap(d_in_, d_out_);
  }
  return loss;
}

template <class Real>
std::size_t Network<Real>::count_right(std::span<const Real> parameters,
                                       std::span<const Real> inputs,
                                       std::span<const std::uint8_t> labels) {
  run_forward(parameters.data(), inputs.data(), samples_of(labels));
  const auto count = static_cast<std::size_t>(classes());
  std::size_t right = 0;
  for (std::size_t place = 0; place < labels.size(); ++place) {
    const Real* out = outputs_.back().data() + place * count;
    if (std::max_element(out, out + count) - out == labels[place]) ++right;
  }
  return right;
}

template class Network<float>;
template class Network<double>;

}  // namespace gradcast::lab
