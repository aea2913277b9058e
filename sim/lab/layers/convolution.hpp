// A convolution of planes with a square kernel (as everywhere in this field, without turning the
// kernel round). Parameters: kernel `outputs` x channels x size x size, then a bias each, if any.
#pragma once
#include "sim/lab/layer.hpp"

namespace gradcast::lab {

struct Kernel {
  int size = 3;
  int stride = 1;
  int padding = 0;  // zeros on each side
  bool bias = true;
};

template <class Real>
class Convolution : public Layer<Real> {
 public:
  Convolution(Shape input, int outputs, Kernel kernel);
  std::vector<ParameterTensor> parameters() const override;
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;

 private:
  /// The inputs that each output place of one sample multiplies, a column each: `patch_` x places.
  void spread(const Real* in);
  /// Adds the columns back to the inputs that they came from.
  void gather(Real* in) const;
  template <class Visit>
  void visit_columns(Visit visit) const;

  Kernel kernel_;
  int patch_;   // channels x size x size
  int places_;  // output height x width
  std::vector<Real> columns_;
};

}  // namespace gradcast::lab
