// out = W in + b. W is `outputs` x inputs, row-major, then b. In a sequence each position goes
// through the same W and b.
#pragma once
#include "sim/lab/layer.hpp"

namespace gradcast::lab {

template <class Real>
class FullyConnected : public Layer<Real> {
 public:
  /// `positions`: of a sequence (positions x 1 x inputs); 1: all of the input is one vector.
  FullyConnected(Shape input, int outputs, int positions = 1);
  std::vector<ParameterTensor> parameters() const override;
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;

 private:
  int inputs_;
  int outputs_;
  int positions_;
};

}  // namespace gradcast::lab
