// A residual block: two convolutions of 3 x 3, each with its normalisation, added to the block's
// input. He et al., "Deep Residual Learning", 2015, Fig. 2. Where the shape changes, a convolution
// of 1 x 1 brings the input to it (option B).
#pragma once
#include <memory>

#include "sim/lab/layer.hpp"

namespace gradcast::lab {

template <class Real>
class Residual : public Layer<Real> {
 public:
  Residual(Shape input, int channels, int stride);
  ~Residual() override;
  std::vector<ParameterTensor> parameters() const override;
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;

 private:
  struct Chain;
  std::unique_ptr<Chain> main_;
  std::unique_ptr<Chain> shortcut_;  // null: the input itself
  std::vector<Real> added_;          // before the last rectifier
  std::vector<Real> d_added_;
  std::vector<Real> d_shortcut_;
};

}  // namespace gradcast::lab
