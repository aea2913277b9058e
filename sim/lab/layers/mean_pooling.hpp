// The mean of each plane.
#pragma once
#include "sim/lab/layer.hpp"

namespace gradcast::lab {

template <class Real>
class MeanPooling : public Layer<Real> {
 public:
  explicit MeanPooling(Shape input) : Layer<Real>(input, {input.channels, 1, 1}) {}
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;
};

}  // namespace gradcast::lab
