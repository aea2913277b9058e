#include <algorithm>
#include <stdexcept>

#include "sim/lab/layers/layers.hpp"

namespace gradcast::lab {
template <class Real>
GroupNorm<Real>::GroupNorm(Shape shape, int groups)
    : Layer<Real>(shape, shape),
      groups_(groups),
      channels_(shape.channels / groups),
      plane_(shape.height * shape.width) {
  if (shape.channels % groups != 0)
    throw std::invalid_argument("the number of groups must divide that of channels");
}

template <class Real>
std::vector<ParameterTensor> GroupNorm<Real>::parameters() const {
  const auto channels = static_cast<std::size_t>(this->input().channels);
  return {{"scale", channels, ParameterKind::Scale, 1},
          {"shift", channels, ParameterKind::Shift, 1}};
}

template <class Real>
Normalising<Real> GroupNorm<Real>::group(const Real* parameters, const Real* in, int block) const {
  const int first_channel = block % groups_ * channels_;
  return {in + static_cast<std::ptrdiff_t>(block) * channels_ * plane_, parameters + first_channel,
          parameters + this->input().channels + first_channel, channels_, plane_};
}

template <class Real>
void GroupNorm<Real>::forward(const Real* parameters, const Real* in, int samples, Real* out) {
  moments_.clear();
  for (int block = 0; block < samples * groups_; ++block, out += channels_ * plane_)
    moments_.push_back(plane_loops<Real>().normalise(group(parameters, in, block), out));
}

template <class Real>
void GroupNorm<Real>::backward(const Real* parameters, const Real* in, const Real*,
                               const Real* d_out, int samples, Real* d_in, Real* d_parameters) {
  const int channels = this->input().channels;
  std::fill(d_parameters, d_parameters + 2 * channels, Real{0});
  for (int block = 0; block < samples * groups_; ++block, d_out += channels_ * plane_) {
    Real* d_scale = d_parameters + block % groups_ * channels_;
    plane_loops<Real>().normalise_back(group(parameters, in, block),
                                       moments_[static_cast<std::size_t>(block)], d_out, d_in,
                                       d_scale, d_scale + channels);
    if (d_in != nullptr) d_in += channels_ * plane_;
  }
}

template class GroupNorm<float>;
template class GroupNorm<double>;

}  // namespace gradcast::lab
