#include "sim/lab/layers/rectifier.hpp"

namespace gradcast::lab {

template <class Real>
void Rectifier<Real>::forward(const Real*, const Real* in, int samples, Real* out) {
  const std::size_t size = static_cast<std::size_t>(samples) * this->input().size();
  for (std::size_t i = 0; i < size; ++i) out[i] = in[i] > 0 ? in[i] : Real{0};
}

template <class Real>
void Rectifier<Real>::backward(const Real*, const Real* in, const Real*, const Real* d_out,
                               int samples, Real* d_in, Real*) {
  if (d_in == nullptr) return;
  const std::size_t size = static_cast<std::size_t>(samples) * this->input().size();
  for (std::size_t i = 0; i < size; ++i) d_in[i] = in[i] > 0 ? d_out[i] : Real{0};
}

template class Rectifier<float>;
template class Rectifier<double>;

}  // namespace gradcast::lab
