// Pooling: each plane becomes its mean, or the largest of each 2 x 2 of its elements.
#pragma once
#include "sim/lab/layer.hpp"

namespace gradcast::lab {

/// The mean of each plane.
template <class Real>
class MeanPooling : public Layer<Real> {
 public:
  explicit MeanPooling(Shape input) : Layer<Real>(input, {input.channels, 1, 1}) {}
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;
};

/// The largest of each 2 x 2 elements of a plane; of equals the first. Height and width are even.
template <class Real>
class MaxPooling : public Layer<Real> {
 public:
  explicit MaxPooling(Shape input);
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;

 private:
  std::vector<std::uint32_t> taken_;  // of each output: the place in `in`
};

}  // namespace gradcast::lab
