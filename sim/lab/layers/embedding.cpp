#include <algorithm>

#include "sim/lab/layers/layers.hpp"

namespace gradcast::lab {

template <class Real>
Embedding<Real>::Embedding(Shape input, int tokens, int width)
    : Layer<Real>(input, {static_cast<int>(input.size()), 1, width}),
      positions_(static_cast<int>(input.size())),
      tokens_(tokens),
      width_(width) {}

template <class Real>
std::vector<ParameterTensor> Embedding<Real>::parameters() const {
  return {{"table", static_cast<std::size_t>(tokens_) * static_cast<std::size_t>(width_),
           ParameterKind::GateWeight, static_cast<std::size_t>(width_),
           static_cast<std::size_t>(width_)}};
}

template <class Real>
std::ptrdiff_t Embedding<Real>::row_of(Real token) const {
  return std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(token), 0, tokens_ - 1) * width_;
}

template <class Real>
void Embedding<Real>::forward(const Real* parameters, const Real* in, int samples, Real* out) {
  for (int i = 0; i < samples * positions_; ++i, out += width_)
    std::copy_n(parameters + row_of(in[i]), width_, out);
}

template <class Real>
void Embedding<Real>::backward(const Real*, const Real* in, const Real*, const Real* d_out,
                               int samples, Real* d_in, Real* d_parameters) {
  std::fill_n(d_parameters, static_cast<std::ptrdiff_t>(tokens_) * width_, Real{0});
  for (int i = 0; i < samples * positions_; ++i, d_out += width_) {
    Real* row = d_parameters + row_of(in[i]);
    for (int n = 0; n < width_; ++n) row[n] += d_out[n];
  }
  if (d_in != nullptr) std::fill_n(d_in, samples * positions_, Real{0});
}

template class Embedding<float>;
template class Embedding<double>;

}  // namespace gradcast::lab
