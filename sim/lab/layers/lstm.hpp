// Long short-term memory over a sequence (Hochreiter and Schmidhuber, 1997, with the forget gate of
// Gers et al., 2000; no peepholes).
#pragma once
#include <vector>

#include "sim/lab/layer.hpp"

namespace gradcast::lab {

/// The input is a sequence: positions x 1 x n. With s the logistic function, h and c zero before
/// the first position, and a = W x + U h_before + b in four parts of `units`:
///   i = s(a_i), f = s(a_f + 1), g = tanh(a_g), o = s(a_o);  c = f c_before + i g;  h = o tanh(c).
/// The 1 keeps memory at the beginning (Jozefowicz et al., 2015). The output is h of each position:
/// positions x 1 x `units`. Parameters: W (4 units x n), U (4 units x units), b (4 units), the
/// parts in the order i, f, g, o.
template <class Real>
class Lstm : public Layer<Real> {
 public:
  Lstm(Shape input, int units);
  std::vector<ParameterTensor> parameters() const override;
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;

 private:
  /// Where a sample's position lies among all, sample by sample.
  std::ptrdiff_t place(int sample, int position) const {
    return static_cast<std::ptrdiff_t>(sample) * positions_ + position;
  }
  /// What lies at one position of all samples, `width` each, moved together.
  void gather(const std::vector<Real>& from, int position, int samples, int width,
              std::vector<Real>& to) const;

  int positions_;
  int inputs_;
  int units_;
  std::vector<Real> gates_;  // i, f, g, o of each position; in backward the gradient by a
  std::vector<Real> cells_;  // c of each position
  std::vector<Real> hidden_;
  std::vector<Real> products_;
};

}  // namespace gradcast::lab
