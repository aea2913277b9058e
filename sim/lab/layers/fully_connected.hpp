// out = W in + b. W is `outputs` x inputs, row-major, then b.
#pragma once
#include "sim/lab/layer.hpp"

namespace gradcast::lab {

template <class Real>
class FullyConnected : public Layer<Real> {
 public:
  FullyConnected(Shape input, int outputs);
  std::vector<ParameterTensor> parameters() const override;
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;

 private:
  int inputs_;
  int outputs_;
};

}  // namespace gradcast::lab
