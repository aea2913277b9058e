#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/lab/layers/layers.hpp"

namespace gradcast::lab {
namespace {

constexpr double kEpsilon = 1e-5;  // added to the variance, as in PyTorch

}  // namespace

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
void GroupNorm<Real>::forward(const Real* parameters, const Real* in, int samples, Real* out) {
  const Real* scale = parameters;
  const Real* shift = parameters + this->input().channels;
  const int size = channels_ * plane_;
  means_.clear();
  inverses_.clear();
  for (int sample = 0; sample < samples; ++sample)
    for (int group = 0; group < groups_; ++group, in += size, out += size) {
      Real sum = 0;
      for (int i = 0; i < size; ++i) sum += in[i];
      const Real mean = sum / static_cast<Real>(size);
      Real squares = 0;
      for (int i = 0; i < size; ++i) squares += (in[i] - mean) * (in[i] - mean);
      const Real inverse =
          1 / std::sqrt(squares / static_cast<Real>(size) + static_cast<Real>(kEpsilon));
      for (int i = 0; i < size; ++i) {
        const int channel = group * channels_ + i / plane_;
        out[i] = scale[channel] * ((in[i] - mean) * inverse) + shift[channel];
      }
      means_.push_back(mean);
      inverses_.push_back(inverse);
    }
}

template <class Real>
void GroupNorm<Real>::backward(const Real* parameters, const Real* in, const Real*,
                               const Real* d_out, int samples, Real* d_in, Real* d_parameters) {
  Real* d_scale = d_parameters;
  Real* d_shift = d_parameters + this->input().channels;
  std::fill(d_parameters, d_parameters + 2 * this->input().channels, Real{0});
  const int size = channels_ * plane_;
  for (int block = 0; block < samples * groups_; ++block, in += size, d_out += size) {
    const int first_channel = block % groups_ * channels_;
    const Real mean = means_[static_cast<std::size_t>(block)];
    const Real inverse = inverses_[static_cast<std::size_t>(block)];
    // With x the normalised input and s = scale x d_out:
    // d_in = inverse (s - mean of s - x mean of (s x)).
    Real sum = 0;
    Real sum_with_x = 0;
    for (int i = 0; i < size; ++i) {
      const int channel = first_channel + i / plane_;
      const Real x = (in[i] - mean) * inverse;
      const Real s = parameters[channel] * d_out[i];
      sum += s;
      sum_with_x += s * x;
      d_scale[channel] += d_out[i] * x;
      d_shift[channel] += d_out[i];
    }
    if (d_in == nullptr) continue;
    for (int i = 0; i < size; ++i) {
      const Real x = (in[i] - mean) * inverse;
      const Real s = parameters[first_channel + i / plane_] * d_out[i];
      d_in[i] = inverse * (s - (sum + x * sum_with_x) / static_cast<Real>(size));
    }
    d_in += size;
  }
}

template class GroupNorm<float>;
template class GroupNorm<double>;

}  // namespace gradcast::lab
