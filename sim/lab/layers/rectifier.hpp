// out = max(in, 0). Its gradient at 0 is 0.
#pragma once
#include "sim/lab/layer.hpp"

namespace gradcast::lab {

template <class Real>
class Rectifier : public Layer<Real> {
 public:
  explicit Rectifier(Shape shape) : Layer<Real>(shape, shape) {}
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;
};

}  // namespace gradcast::lab
