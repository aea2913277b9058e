#include "sim/generate/architecture.hpp"

#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace gradcast {
namespace {

/// The number of positions of a window, as PyTorch counts without ceil_mode.
std::int64_t fits(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                  std::int64_t padding) {
  if (size + 2 * padding < kernel) throw std::logic_error("a window is larger than its input");
  return (size + 2 * padding - kernel) / stride + 1;
}

Shape slide(Shape in, const Window& window, std::int64_t channels) {
  return {channels, fits(in.height, window.height, window.stride, window.pad_height),
          fits(in.width, window.width,
               window.stride_width > 0 ? window.stride_width : window.stride, window.pad_width)};
}

GradientTensor shaped(GradientTensor tensor, const std::vector<std::int64_t>& shape) {
  tensor.shape = shape;
  tensor.elements =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  return tensor;
}

/// The layer's first tensor, which carries its FLOPs, and its bias.
std::vector<GradientTensor> weight_and_bias(const std::string& layer,
                                            const std::vector<std::int64_t>& weights,
                                            std::int64_t biases,
                                            std::int64_t multiply_accumulates) {
  std::vector<GradientTensor> tensors{shaped(
      {layer, layer + ".weight", 0, 2 * static_cast<double>(multiply_accumulates)}, weights)};
  if (biases > 0) tensors.push_back({layer, layer + ".bias", biases, 0});
  return tensors;
}

}  // namespace

Window square(std::int64_t size, std::int64_t stride, std::int64_t padding) {
  return {size, size, stride, padding, padding};
}

Operator& Architecture::append(OperatorKind kind, const std::string& layer, Shape out) {
  operators_.push_back({kind, layer, at_, out, 0, {}});
  at_ = out;
  return operators_.back();
}

void Architecture::give(Operator& to, std::vector<GradientTensor> tensors) const {
  to.tensors = std::move(tensors);
  for (GradientTensor& tensor : to.tensors) {
    if (tensor.shape.empty()) tensor.shape = {tensor.elements};
    tensor.type = type_;
    tensor.unit = unit_;
  }
}

void Architecture::charge_layer_before(std::int64_t multiply_accumulates) {
  for (auto it = operators_.rbegin(); it != operators_.rend(); ++it) {
    if (it->tensors.empty()) continue;
    it->tensors.front().forward_flops += 2 * static_cast<double>(multiply_accumulates);
    return;
  }
  throw std::logic_error("nothing stands before an operator without tensors");
}

void Architecture::convolution(const std::string& layer, std::int64_t out_channels,
                               const Window& window, bool bias, std::int64_t groups) {
  if (at_.channels % groups != 0 || out_channels % groups != 0)
    throw std::logic_error("channels are not divided by the groups of a convolution");
  convolve(layer, {out_channels, at_.channels / groups, window.height, window.width}, window, bias);
}

void Architecture::convolve(const std::string& layer, const std::vector<std::int64_t>& weights,
                            const Window& window, bool bias) {
  const std::int64_t in_channels = weights[1];  // read by each output channel
  const std::int64_t out_channels = weights.front();
  Operator& added = append(OperatorKind::Convolution, layer, slide(at_, window, out_channels));
  added.multiply_accumulates = in_channels * window.height * window.width * out_channels *
                               added.out.height * added.out.width;
  give(added, weight_and_bias(layer, weights, bias ? out_channels : 0, added.multiply_accumulates));
}

/// One multiply-accumulate an element: scale and shift.
void Architecture::batch_norm(const std::string& layer) {
  Operator& added = append(OperatorKind::BatchNorm, layer, at_);
  added.multiply_accumulates = at_.elements();
  give(added, weight_and_bias(layer, {at_.channels}, at_.channels, added.multiply_accumulates));
}

void Architecture::linear(const std::string& layer, std::int64_t out_features) {
  const std::int64_t in_features = at_.elements();
  Operator& added = append(OperatorKind::Linear, layer, {out_features, 1, 1});
  added.multiply_accumulates = in_features * out_features;
  give(added, weight_and_bias(layer, {out_features, in_features}, out_features,
                              added.multiply_accumulates));
}

void Architecture::linear_of_steps(const std::string& layer, std::int64_t out_features, bool bias) {
  convolve(layer, {out_features, at_.channels}, square(1), bias);
}

/// Nothing is multiplied: rows are copied.
void Architecture::embedding(const std::string& layer, std::int64_t rows, std::int64_t features) {
  Operator& added = append(OperatorKind::Embedding, layer, {features, 1, at_.width});
  give(added, {shaped({layer, layer + ".weight"}, {rows, features})});
}

/// Four gates of `hidden` rows each, on the input and on the layer's own last output. The gates'
/// own arithmetic is a thousandth of that and not counted.
void Architecture::lstm(const std::string& module, int number, std::int64_t hidden) {
  const std::int64_t rows = 4 * hidden;
  const std::string layer = module + ".l" + std::to_string(number);
  const std::string suffix = "_l" + std::to_string(number);
  Operator& added = append(OperatorKind::Lstm, layer, {hidden, 1, at_.width});
  added.multiply_accumulates = rows * (added.in.channels + hidden) * added.out.width;
  give(added, {shaped({layer, module + ".weight_ih" + suffix, 0,
                       2 * static_cast<double>(added.multiply_accumulates)},
                      {rows, added.in.channels}),
               shaped({layer, module + ".weight_hh" + suffix}, {rows, hidden}),
               {layer, module + ".bias_ih" + suffix, rows, 0},
               {layer, module + ".bias_hh" + suffix, rows, 0}});
}

void Architecture::lookahead(const std::string& layer, std::int64_t context) {
  Operator& added = append(OperatorKind::Convolution, layer, at_);
  added.multiply_accumulates = at_.channels * (context + 1) * at_.width;
  give(added, weight_and_bias(layer, {at_.channels, context + 1}, 0, added.multiply_accumulates));
}

/// One multiply-accumulate an element, as batch normalisation.
void Architecture::layer_norm(const std::string& layer, bool bias) {
  Operator& added = append(OperatorKind::LayerNorm, layer, at_);
  added.multiply_accumulates = at_.elements();
  give(added,
       weight_and_bias(layer, {at_.channels}, bias ? at_.channels : 0, added.multiply_accumulates));
}

/// Nothing is saved by a causal mask, as where others count a model's FLOPs.
void Architecture::attention(std::int64_t width, std::int64_t key_value_width) {
  at_.channels = width + 2 * key_value_width;
  Operator& added = append(OperatorKind::Attention, "", {width, 1, at_.width});
  added.multiply_accumulates = 2 * at_.width * at_.width * width;
  charge_layer_before(added.multiply_accumulates);
}

void Architecture::activation(std::int64_t out_channels) {
  append(OperatorKind::Activation, "", {out_channels, 1, at_.width});
}

void Architecture::learned_rows(const std::string& tensor, std::int64_t rows) {
  Operator& added = append(OperatorKind::Add, tensor, at_);
  give(added, {shaped({tensor, tensor}, {rows, at_.channels})});
}

void Architecture::tied_linear(std::int64_t out_features) {
  Operator& added = append(OperatorKind::Linear, "", {out_features, 1, at_.width});
  added.multiply_accumulates = added.in.channels * out_features * at_.width;
  charge_layer_before(added.multiply_accumulates);
}

void Architecture::bias(const std::string& layer) {
  Operator& added = append(OperatorKind::Add, layer, at_);
  added.multiply_accumulates = at_.elements();
  give(added, {{layer, layer + ".bias", at_.channels, 2 * static_cast<double>(at_.elements())}});
}

void Architecture::columns_as_steps() { at_ = {at_.channels * at_.height, 1, at_.width}; }

void Architecture::relu() { append(OperatorKind::Relu, "", at_); }

void Architecture::pool(const Window& window) {
  append(OperatorKind::Pool, "", slide(at_, window, at_.channels));
}

void Architecture::pool_to(std::int64_t height, std::int64_t width) {
  append(OperatorKind::Pool, "", {at_.channels, height, width});
}

void Architecture::add() { append(OperatorKind::Add, "", at_); }

void Architecture::concatenate(std::int64_t channels) {
  at_.channels = channels;
  append(OperatorKind::Concatenate, "", at_);
}

Model model_of(const std::string& name, const Architecture& architecture) {
  return {name, tensors_of(architecture.operators())};
}

}  // namespace gradcast
