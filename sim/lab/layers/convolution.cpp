#include <algorithm>

#include "sim/lab/layers/layers.hpp"
#include "sim/lab/matrix_product.hpp"

namespace gradcast::lab {
namespace {

Shape convolved(Shape input, int outputs, Kernel kernel) {
  const auto along = [&](int length) {
    return (length + 2 * kernel.padding - kernel.size) / kernel.stride + 1;
  };
  return {outputs, along(input.height), along(input.width)};
}

}  // namespace

template <class Real>
Convolution<Real>::Convolution(Shape input, int outputs, Kernel kernel)
    : Layer<Real>(input, convolved(input, outputs, kernel)),
      kernel_(kernel),
      patch_(input.channels * kernel.size * kernel.size),
      places_(this->output().height * this->output().width),
      columns_(static_cast<std::size_t>(patch_) * static_cast<std::size_t>(places_)) {}

template <class Real>
std::vector<ParameterTensor> Convolution<Real>::parameters() const {
  const auto patch = static_cast<std::size_t>(patch_);
  const auto outputs = static_cast<std::size_t>(this->output().channels);
  std::vector<ParameterTensor> tensors{
      {"weight", outputs * patch, ParameterKind::Weight, patch, patch}};
  if (kernel_.bias) tensors.push_back({"bias", outputs, ParameterKind::Bias, patch});
  return tensors;
}

/// Calls visit(place in columns, place in the input or -1 for a zero of the padding).
template <class Real>
template <class Visit>
void Convolution<Real>::visit_columns(Visit visit) const {
  const Shape in = this->input();
  const Shape out = this->output();
  std::size_t column = 0;
  for (int channel = 0; channel < in.channels; ++channel)
    for (int dy = 0; dy < kernel_.size; ++dy)
      for (int dx = 0; dx < kernel_.size; ++dx)
        for (int y = 0; y < out.height; ++y) {
          const int in_y = y * kernel_.stride + dy - kernel_.padding;
          for (int x = 0; x < out.width; ++x, ++column) {
            const int in_x = x * kernel_.stride + dx - kernel_.padding;
            const bool inside = in_y >= 0 && in_y < in.height && in_x >= 0 && in_x < in.width;
            visit(column, inside ? (channel * in.height + in_y) * in.width + in_x : -1);
          }
        }
}

template <class Real>
void Convolution<Real>::spread(const Real* in) {
  visit_columns(
      [&](std::size_t column, int place) { columns_[column] = place < 0 ? Real{0} : in[place]; });
}

template <class Real>
void Convolution<Real>::gather(Real* in) const {
  std::fill(in, in + this->input().size(), Real{0});
  visit_columns([&](std::size_t column, int place) {
    if (place >= 0) in[place] += columns_[column];
  });
}

template <class Real>
void Convolution<Real>::forward(const Real* parameters, const Real* in, int samples, Real* out) {
  const int outputs = this->output().channels;
  const Real* bias = parameters + static_cast<std::ptrdiff_t>(outputs) * patch_;
  for (int sample = 0; sample < samples; ++sample) {
    spread(in);
    multiply<Real>(outputs, places_, patch_, {parameters}, {columns_.data()}, out);
    if (kernel_.bias)
      for (int channel = 0; channel < outputs; ++channel)
        for (int i = 0; i < places_; ++i) out[channel * places_ + i] += bias[channel];
    in += this->input().size();
    out += this->output().size();
  }
}

template <class Real>
void Convolution<Real>::backward(const Real* parameters, const Real* in, const Real*,
                                 const Real* d_out, int samples, Real* d_in, Real* d_parameters) {
  const int outputs = this->output().channels;
  Real* d_bias = d_parameters + static_cast<std::ptrdiff_t>(outputs) * patch_;
  std::fill(d_parameters, d_bias + (kernel_.bias ? outputs : 0), Real{0});
  for (int sample = 0; sample < samples; ++sample) {
    spread(in);
    multiply<Real>(outputs, patch_, places_, {d_out}, {columns_.data(), true}, d_parameters, true);
    if (kernel_.bias)
      for (int channel = 0; channel < outputs; ++channel)
        for (int i = 0; i < places_; ++i) d_bias[channel] += d_out[channel * places_ + i];
    if (d_in != nullptr) {
      multiply<Real>(patch_, places_, outputs, {parameters, true}, {d_out}, columns_.data());
      gather(d_in);
      d_in += this->input().size();
    }
    in += this->input().size();
    d_out += this->output().size();
  }
}

template class Convolution<float>;
template class Convolution<double>;

}  // namespace gradcast::lab
