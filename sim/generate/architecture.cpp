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

// Bytes of what is kept in a type of its own.
constexpr std::int64_t kIndexBytes = 8;  // PyTorch's rows and places are int64
constexpr std::int64_t kMaskBytes = 1;
constexpr std::int64_t kFp32Bytes = 4;

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
  with_shape(out);
  return operators_.back();
}

void Architecture::unit(const std::string& name) {
  unit_ = name;
  unit_begins_ = true;
  unit_input_ = at_.elements();
}

void Architecture::from(const Place& place) {
  at_ = place.shape;
  activation_ = place.activation;
}

void Architecture::with_shape(Shape shape) {
  at_ = shape;
  activation_ = kept_.size();
  kept_.push_back(false);
}

std::int64_t Architecture::keep_here() {
  if (kept_[activation_]) return 0;
  kept_[activation_] = true;
  return at_.elements();
}

void Architecture::give(Operator& to, std::vector<GradientTensor> tensors,
                        std::int64_t kept_elements, std::int64_t kept_bytes) {
  to.tensors = std::move(tensors);
  for (GradientTensor& tensor : to.tensors) {
    if (tensor.shape.empty()) tensor.shape = {tensor.elements};
    tensor.type = tensor.activation_type = type_;
    tensor.unit = unit_;
  }
  GradientTensor& first = to.tensors.front();
  first.kept_elements = kept_elements;
  first.kept_bytes = kept_bytes;
  if (unit_begins_) first.unit_input = unit_input_;
  unit_begins_ = false;
}

GradientTensor& Architecture::layer_before() {
  for (auto it = operators_.rbegin(); it != operators_.rend(); ++it)
    if (!it->tensors.empty()) return it->tensors.front();
  throw std::logic_error("nothing stands before an operator without tensors");
}

void Architecture::charge_layer_before(std::int64_t multiply_accumulates) {
  layer_before().forward_flops += 2 * static_cast<double>(multiply_accumulates);
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
  const std::int64_t kept = keep_here();
  Operator& added = append(OperatorKind::Convolution, layer, slide(at_, window, out_channels));
  added.multiply_accumulates = in_channels * window.height * window.width * out_channels *
                               added.out.height * added.out.width;
  give(added, weight_and_bias(layer, weights, bias ? out_channels : 0, added.multiply_accumulates),
       kept);
}

/// One multiply-accumulate an element: scale and shift. The batch's statistics, two a channel, are
/// not counted among what is kept; the running ones, as many in fp32, are buffers.
void Architecture::batch_norm(const std::string& layer) {
  const std::int64_t kept = keep_here();
  Operator& added = append(OperatorKind::BatchNorm, layer, at_);
  added.multiply_accumulates = at_.elements();
  give(added, weight_and_bias(layer, {at_.channels}, at_.channels, added.multiply_accumulates),
       kept);
  added.tensors.front().keep_running_statistics(at_.channels);
}

void Architecture::linear(const std::string& layer, std::int64_t out_features) {
  const std::int64_t in_features = at_.elements();
  const std::int64_t kept = keep_here();
  Operator& added = append(OperatorKind::Linear, layer, {out_features, 1, 1});
  added.multiply_accumulates = in_features * out_features;
  give(
      added,
      weight_and_bias(layer, {out_features, in_features}, out_features, added.multiply_accumulates),
      kept);
}

void Architecture::linear_of_steps(const std::string& layer, std::int64_t out_features, bool bias) {
  convolve(layer, {out_features, at_.channels}, square(1), bias);
}

/// Nothing is multiplied: rows are copied. Their numbers are kept.
void Architecture::embedding(const std::string& layer, std::int64_t rows, std::int64_t features) {
  Operator& added = append(OperatorKind::Embedding, layer, {features, 1, at_.width});
  give(added, {shaped({layer, layer + ".weight"}, {rows, features})}, 0, kIndexBytes * at_.width);
}

/// Four gates of `hidden` rows each, on the input and on the layer's own last output. The gates'
/// own arithmetic is a thousandth of that and not counted. A step keeps its gates, its cell and
/// tanh of the cell, and its output, which is the input of what follows.
void Architecture::lstm(const std::string& module, int number, std::int64_t hidden) {
  const std::int64_t rows = 4 * hidden;
  const std::string layer = module + ".l" + std::to_string(number);
  const std::string suffix = "_l" + std::to_string(number);
  std::int64_t kept = keep_here();
  Operator& added = append(OperatorKind::Lstm, layer, {hidden, 1, at_.width});
  added.multiply_accumulates = rows * (added.in.channels + hidden) * added.out.width;
  kept += (rows + 2 * hidden) * at_.width + keep_here();
  give(added,
       {shaped({layer, module + ".weight_ih" + suffix, 0,
                2 * static_cast<double>(added.multiply_accumulates)},
               {rows, added.in.channels}),
        shaped({layer, module + ".weight_hh" + suffix}, {rows, hidden}),
        {layer, module + ".bias_ih" + suffix, rows, 0},
        {layer, module + ".bias_hh" + suffix, rows, 0}},
       kept);
}

void Architecture::lookahead(const std::string& layer, std::int64_t context) {
  const std::int64_t kept = keep_here();
  Operator& added = append(OperatorKind::Convolution, layer, at_);
  added.multiply_accumulates = at_.channels * (context + 1) * at_.width;
  give(added, weight_and_bias(layer, {at_.channels, context + 1}, 0, added.multiply_accumulates),
       kept);
}

/// One multiply-accumulate an element, as batch normalisation. A step keeps its mean, which an
/// RMSNorm has not, and its deviation in fp32.
void Architecture::layer_norm(const std::string& layer, bool bias) {
  const std::int64_t kept = keep_here();
  Operator& added = append(OperatorKind::LayerNorm, layer, at_);
  added.multiply_accumulates = at_.elements();
  give(added,
       weight_and_bias(layer, {at_.channels}, bias ? at_.channels : 0, added.multiply_accumulates),
       kept, kFp32Bytes * (bias ? 2 : 1) * at_.width);
}

/// Nothing is saved by a causal mask, as where others count a model's FLOPs. Flash attention keeps
/// queries, keys, values, its output and a number in fp32 a head and step, and no matrix of steps.
void Architecture::attention(std::int64_t width, std::int64_t key_value_width,
                             std::int64_t head_width) {
  with_shape({width + 2 * key_value_width, at_.height, at_.width});
  std::int64_t kept = keep_here();
  Operator& added = append(OperatorKind::Attention, "", {width, 1, at_.width});
  added.multiply_accumulates = 2 * at_.width * at_.width * width;
  charge_layer_before(added.multiply_accumulates);
  kept += keep_here();
  layer_before().kept_elements += kept;
  layer_before().kept_bytes += kFp32Bytes * (width / head_width) * at_.width;
}

/// A gated one, with half as many values behind it, multiplies two and keeps the activated one too.
void Architecture::activation(std::int64_t out_channels) {
  const bool gated = out_channels < at_.channels;
  layer_before().kept_elements += keep_here() + (gated ? out_channels * at_.width : 0);
  append(OperatorKind::Activation, "", {out_channels, 1, at_.width});
}

void Architecture::learned_rows(const std::string& tensor, std::int64_t rows) {
  Operator& added = append(OperatorKind::Add, tensor, at_);
  give(added, {shaped({tensor, tensor}, {rows, at_.channels})}, 0);
}

void Architecture::tied_linear(std::int64_t out_features) {
  layer_before().kept_elements += keep_here();
  Operator& added = append(OperatorKind::Linear, "", {out_features, 1, at_.width});
  added.multiply_accumulates = added.in.channels * out_features * at_.width;
  charge_layer_before(added.multiply_accumulates);
}

void Architecture::bias(const std::string& layer) {
  Operator& added = append(OperatorKind::Add, layer, at_);
  added.multiply_accumulates = at_.elements();
  give(added, {{layer, layer + ".bias", at_.channels, 2 * static_cast<double>(at_.elements())}}, 0);
}

void Architecture::columns_as_steps() { with_shape({at_.channels * at_.height, 1, at_.width}); }

/// A ReLU in place. Backward needs the output.
void Architecture::relu() {
  append(OperatorKind::Relu, "", at_);
  layer_before().kept_elements += keep_here();
}

void Architecture::pool(const Window& window, Pooling pooling) {
  layer_before().kept_elements += keep_here();
  append(OperatorKind::Pool, "", slide(at_, window, at_.channels));
  if (pooling == Pooling::Maximum) layer_before().kept_bytes += kIndexBytes * at_.elements();
}

void Architecture::pool_to(std::int64_t height, std::int64_t width) {
  append(OperatorKind::Pool, "", {at_.channels, height, width});
}

void Architecture::add() { append(OperatorKind::Add, "", at_); }

void Architecture::concatenate(std::int64_t channels) {
  at_.channels = channels;
  append(OperatorKind::Concatenate, "", at_);
}

void Architecture::dropout() {
  layer_before().kept_bytes += kMaskBytes * at_.elements();
  with_shape(at_);
}

/// Log-probabilities are kept in fp32. When backward begins, the program still holds the values,
/// and two gradients of them in fp32 are there: of the chosen logarithms, and of all values.
void Architecture::loss() {
  layer_before().kept_elements += at_.elements();
  layer_before().kept_bytes += 3 * kFp32Bytes * at_.elements();
}

Model model_of(const std::string& name, const Architecture& architecture) {
  return {name, tensors_of(architecture.operators())};
}

}  // namespace gradcast
