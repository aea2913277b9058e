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

// The height is even, so rows of all planes of all samples pair up without regard to where planes
// end.
template <class Real>
void MaxPooling<Real>::forward(const Real*, const Real* in, int samples, Real* out) {
  const auto width = static_cast<std::size_t>(this->output().width);
  const std::size_t size = static_cast<std::size_t>(samples) * this->output().size();
  for (const Real* end = out + size; out != end; out += width, in += 4 * width) {
    const Real* below = in + 2 * width;
    for (std::size_t x = 0; x < width; ++x)
      out[x] =
          std::max(std::max(in[2 * x], in[2 * x + 1]), std::max(below[2 * x], below[2 * x + 1]));
  }
}

template <class Real>
void MaxPooling<Real>::backward(const Real*, const Real* in, const Real* out, const Real* d_out,
                                int samples, Real* d_in, Real*) {
  if (d_in == nullptr) return;
  const auto width = static_cast<std::size_t>(this->output().width);
  const std::size_t size = static_cast<std::size_t>(samples) * this->output().size();
  for (const Real* end = out + size; out != end;
       out += width, d_out += width, in += 4 * width, d_in += 4 * width) {
    const Real* below = in + 2 * width;
    Real* d_below = d_in + 2 * width;
    for (std::size_t x = 0; x < width; ++x) {
      const Real largest = out[x];
      const Real d = d_out[x];
      const bool first = in[2 * x] == largest;
      const bool second = !first & (in[2 * x + 1] == largest);
      const bool third = !first & !second & (below[2 * x] == largest);
      d_in[2 * x] = first ? d : 0;
      d_in[2 * x + 1] = second ? d : 0;
      d_below[2 * x] = third ? d : 0;
      d_below[2 * x + 1] = !first & !second & !third ? d : 0;
    }
  }
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
  for (std::size_t i = 0; i < size; ++i) {
    const Real d = d_out[i];  // read in any case, so that the loop has no branch
    d_in[i] = in[i] > 0 ? d : Real{0};
  }
}

template class Rectifier<float>;
template class Rectifier<double>;

}  // namespace gradcast::lab
