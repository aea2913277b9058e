// A layer of a network: a function of its input and its parameters, and that function's gradient.
// The shape of what flows between layers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradcast::lab {

/// The shape of what flows between layers, of one sample: `channels` planes of `height` x `width`,
/// one after another. A vector of n is n channels of 1 x 1.
struct Shape {
  int channels = 1;
  int height = 1;
  int width = 1;

  std::size_t size() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }
  bool operator==(const Shape&) const = default;
};

/// Kinds of parameters: each has its initial values, and weight decay applies to some.
enum class ParameterKind {
  Weight,      // uniform within +-sqrt(6 / fan in): He et al., 2015, for rectifiers
  GateWeight,  // uniform within +-1 / sqrt(fan in): as PyTorch's LSTM
  Bias,        // 0; no decay
  Scale,       // 1; no decay
  Shift,       // 0; no decay
};

inline bool decays(ParameterKind kind) {
  return kind == ParameterKind::Weight || kind == ParameterKind::GateWeight;
}

/// A tensor of parameters, as data-parallel training sees it: its gradient is one tensor.
struct ParameterTensor {
  std::string name;  // "weight"; within a network "fc1.weight"
  std::size_t elements = 0;
  ParameterKind kind = ParameterKind::Weight;
  std::size_t fan_in = 1;
  std::size_t columns = 1;  // of its matrix, stored row by row; 1 for a vector
};

/// Real is float for trainings, double where gradients are checked. A layer keeps what backward
/// needs of the last forward, so two threads use two copies of a network.
template <class Real>
class Layer {
 public:
  Layer(Shape input, Shape output) : input_(input), output_(output) {}
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  Shape input() const { return input_; }
  Shape output() const { return output_; }

  /// Tensors of parameters, in the order in which they lie in memory.
  virtual std::vector<ParameterTensor> parameters() const { return {}; }

  /// out = f(in) for each of `samples` samples, one after another in memory.
  virtual void forward(const Real* parameters, const Real* in, int samples, Real* out) = 0;

  /// Follows forward of the same samples. `d_out` is the loss's gradient by `out`. Writes that by
  /// `in` (unless `d_in` is null) and that by the parameters, added up over the samples.
  virtual void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                        int samples, Real* d_in, Real* d_parameters) = 0;

 private:
  Shape input_;
  Shape output_;
};

/// The number of all parameters of a layer.
template <class Real>
std::size_t parameter_count(const Layer<Real>& layer) {
  std::size_t count = 0;
  for (const ParameterTensor& tensor : layer.parameters()) count += tensor.elements;
  return count;
}

/// Makes room for `size` elements of a layer's own. It never shrinks: a vector that shrinks and
/// grows again is filled with zeros each time.
template <class Real>
void grow(std::vector<Real>& elements, std::size_t size) {
  if (elements.size() < size) elements.resize(size);
}

}  // namespace gradcast::lab
