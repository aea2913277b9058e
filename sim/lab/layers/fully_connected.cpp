#include <algorithm>

#include "sim/lab/layers/layers.hpp"
#include "sim/lab/matrix_product.hpp"

namespace gradcast::lab {

template <class Real>
FullyConnected<Real>::FullyConnected(Shape input, int outputs, int positions)
    : Layer<Real>(input, positions == 1 ? Shape{outputs, 1, 1} : Shape{positions, 1, outputs}),
      inputs_(static_cast<int>(input.size()) / positions),
      outputs_(outputs),
      positions_(positions) {}

template <class Real>
std::vector<ParameterTensor> FullyConnected<Real>::parameters() const {
  const auto inputs = static_cast<std::size_t>(inputs_);
  const auto outputs = static_cast<std::size_t>(outputs_);
  return {{"weight", inputs * outputs, ParameterKind::Weight, inputs, inputs},
          {"bias", outputs, ParameterKind::Bias, inputs}};
}

template <class Real>
void FullyConnected<Real>::forward(const Real* parameters, const Real* in, int samples, Real* out) {
  samples *= positions_;
  const Real* bias = parameters + static_cast<std::ptrdiff_t>(inputs_) * outputs_;
  for (int sample = 0; sample < samples; ++sample)
    std::copy(bias, bias + outputs_, out + static_cast<std::ptrdiff_t>(sample) * outputs_);
  multiply(samples, outputs_, inputs_, {in}, {parameters, true}, out, true);
}

template <class Real>
void FullyConnected<Real>::backward(const Real* parameters, const Real* in, const Real*,
                                    const Real* d_out, int samples, Real* d_in,
                                    Real* d_parameters) {
  samples *= positions_;
  multiply(outputs_, inputs_, samples, {d_out, true}, {in}, d_parameters);
  Real* d_bias = d_parameters + static_cast<std::ptrdiff_t>(inputs_) * outputs_;
  std::fill(d_bias, d_bias + outputs_, Real{0});
  for (int sample = 0; sample < samples; ++sample)
    for (int i = 0; i < outputs_; ++i)
      d_bias[i] += d_out[static_cast<std::ptrdiff_t>(sample) * outputs_ + i];
  if (d_in != nullptr) multiply(samples, inputs_, outputs_, {d_out}, {parameters}, d_in);
}

template class FullyConnected<float>;
template class FullyConnected<double>;

}  // namespace gradcast::lab
