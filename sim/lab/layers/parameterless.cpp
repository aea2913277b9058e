// Layers without parameters: pooling and the rectifier.
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "sim/lab/layers/layers.hpp"

namespace gradcast::lab {

template <class Real>
MaxPooling<Real>::MaxPooling(Shape input)
    : Layer<Real>(input, {input.channels, input.height / 2, input.width / 2}) {
  if (input.height % 2 != 0 || input.width % 2 != 0)
    throw std::invalid_argument("pooling by 2 x 2 needs an even height and width");
}

template <class Real>
void MaxPooling<Real>::forward(const Real*, const Real* in, int samples, Real* out) {
  const auto width = static_cast<std::size_t>(this->input().width);
  const auto out_width = static_cast<std::size_t>(this->output().width);
  // Height is even, so rows of all planes of all samples pair up without regard to where they end.
  const std::size_t pairs = static_cast<std::size_t>(samples) * this->output().size() / out_width;
  taken_.resize(pairs * out_width);
  for (std::size_t pair = 0; pair < pairs; ++pair)
    for (std::size_t x = 0; x < out_width; ++x) {
      const std::size_t first = 2 * pair * width + 2 * x;
      std::size_t best = first;
      for (const std::size_t other : {first + 1, first + width, first + width + 1})
        if (in[other] > in[best]) best = other;
      out[pair * out_width + x] = in[best];
      taken_[pair * out_width + x] = static_cast<std::uint32_t>(best);
    }
}

template <class Real>
void MaxPooling<Real>::backward(const Real*, const Real*, const Real*, const Real* d_out,
                                int samples, Real* d_in, Real*) {
  if (d_in == nullptr) return;
  const std::size_t size = static_cast<std::size_t>(samples) * this->input().size();
  std::fill(d_in, d_in + size, Real{0});
  for (std::size_t i = 0; i < taken_.size(); ++i) d_in[taken_[i]] = d_out[i];
}

template class MaxPooling<float>;
template class MaxPooling<double>;

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
