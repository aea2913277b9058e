#include "sim/lab/layers/mean_pooling.hpp"

#include <algorithm>
#include <numeric>

namespace gradcast::lab {

template <class Real>
void MeanPooling<Real>::forward(const Real*, const Real* in, int samples, Real* out) {
  const int plane = this->input().height * this->input().width;
  for (int i = 0; i < samples * this->input().channels; ++i, in += plane)
    out[i] = std::accumulate(in, in + plane, Real{0}) / static_cast<Real>(plane);
}

template <class Real>
void MeanPooling<Real>::backward(const Real*, const Real*, const Real*, const Real* d_out,
                                 int samples, Real* d_in, Real*) {
  if (d_in == nullptr) return;
  const int plane = this->input().height * this->input().width;
  for (int i = 0; i < samples * this->input().channels; ++i, d_in += plane)
    std::fill(d_in, d_in + plane, d_out[i] / static_cast<Real>(plane));
}

template class MeanPooling<float>;
template class MeanPooling<double>;

}  // namespace gradcast::lab
