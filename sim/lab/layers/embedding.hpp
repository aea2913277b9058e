// A row of a table for each token: out[i] = table[in[i]].
#pragma once
#include "sim/lab/layer.hpp"

namespace gradcast::lab {

/// Tokens come as whole numbers from 0 to below `tokens`, a position each (positions x 1 x 1). The
/// output is positions x 1 x `width`; parameters: the table, tokens x width, row-major.
template <class Real>
class Embedding : public Layer<Real> {
 public:
  Embedding(Shape input, int tokens, int width);
  std::vector<ParameterTensor> parameters() const override;
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  /// Tokens have no gradient: `d_in` becomes 0.
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;

 private:
  std::ptrdiff_t row_of(Real token) const;

  int positions_;
  int tokens_;
  int width_;
};

}  // namespace gradcast::lab
