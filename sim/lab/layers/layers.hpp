// All kinds of layers. A file each defines them.
#pragma once
#include <memory>
#include <vector>

#include "sim/lab/layer.hpp"
#include "sim/lab/plane_loops.hpp"

namespace gradcast::lab {

struct Kernel {
  int size = 3;
  int stride = 1;
  int padding = 0;  // zeros on each side
  bool bias = true;
};

/// A convolution of planes with a square kernel (as everywhere in this field, without turning the
/// kernel round). Parameters: kernel `outputs` x channels x size x size, then a bias each, if any.
template <class Real>
class Convolution : public Layer<Real> {
 public:
  Convolution(Shape input, int outputs, Kernel kernel);
  ~Convolution() override;
  std::vector<ParameterTensor> parameters() const override;
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;

 private:
  struct Planes;

  Kernel kernel_;
  int patch_;  // channels x size x size
  std::unique_ptr<Planes> planes_;
};

/// A row of a table for each token: out[i] = table[in[i]].
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

/// out = W in + b. W is `outputs` x inputs, row-major, then b. In a sequence each position goes
/// through the same W and b.
template <class Real>
class FullyConnected : public Layer<Real> {
 public:
  /// `positions`: the length of a sequence (positions x 1 x inputs). 1: all of the input is one
  /// vector.
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

/// Normalises each group of channels of a sample to mean 0 and variance 1, then scales and shifts
/// each channel. Wu and He, "Group Normalization", ECCV 2018, equations 1 to 6.
template <class Real>
class GroupNorm : public Layer<Real> {
 public:
  /// `groups` divides the channels.
  GroupNorm(Shape shape, int groups);
  /// A scale each channel, then a shift each.
  std::vector<ParameterTensor> parameters() const override;
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;

 private:
  /// Group `block` of all samples' groups.
  Normalising<Real> group(const Real* parameters, const Real* in, int block) const;

  int groups_;
  int channels_;                        // per group
  int plane_;                           // elements of a channel
  std::vector<Moments<Real>> moments_;  // one per sample and group
};

/// Long short-term memory over a sequence (Hochreiter and Schmidhuber, 1997, with the forget gate
/// of Gers et al., 2000; no peepholes). The input is a sequence: positions x 1 x n. With s the
/// logistic function, h and c zero before the first position, and a = W x + U h_before + b in four
/// parts of `units`:
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
  /// Row of a sample's position in a matrix with all positions, sample by sample.
  std::ptrdiff_t place(int sample, int position) const {
    return static_cast<std::ptrdiff_t>(sample) * positions_ + position;
  }
  /// Copies the rows of one position of all samples, `width` elements each, one after another.
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

/// The mean of each plane.
template <class Real>
class MeanPooling : public Layer<Real> {
 public:
  explicit MeanPooling(Shape input) : Layer<Real>(input, {input.channels, 1, 1}) {}
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;
};

/// The largest of each 2 x 2 elements of a plane; the first of equals. Height and width are even.
template <class Real>
class MaxPooling : public Layer<Real> {
 public:
  explicit MaxPooling(Shape input);
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;
};

/// out = max(in, 0). Its gradient at 0 is 0.
template <class Real>
class Rectifier : public Layer<Real> {
 public:
  explicit Rectifier(Shape shape) : Layer<Real>(shape, shape) {}
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;
};

/// A residual block: two convolutions of 3 x 3, each with its normalisation, added to the block's
/// input. If the shape changes, a convolution of 1 x 1 adapts the input (option B). He et al.,
/// "Deep Residual Learning", 2015, Fig. 2.
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
