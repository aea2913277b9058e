// A network that classifies a sample, or each position of it: layers one after another, and the
// mean cross-entropy of what comes out.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/lab/layer.hpp"

namespace gradcast::lab {

/// The layers of a network with their names; those without parameters need none.
template <class Real>
struct NamedLayer {
  std::string name;
  std::unique_ptr<Layer<Real>> layer;
};

template <class Real>
class Network {
 public:
  /// Each layer's input has the shape of the output before it; else std::invalid_argument. The last
  /// output has an element a class, for each of `positions` labels of a sample.
  explicit Network(std::vector<NamedLayer<Real>> layers, int positions = 1);

  Shape input() const { return layers_.front().layer->input(); }
  int classes() const {
    return static_cast<int>(layers_.back().layer->output().size()) / positions_;
  }

  /// All tensors of parameters, in forward order. They lie in one vector, in this order.
  const std::vector<ParameterTensor>& tensors() const { return tensors_; }
  /// The number of parameters.
  std::size_t size() const { return size_; }

  /// The parameters that a training with this seed begins with.
  std::vector<Real> first_parameters(std::uint64_t seed) const;

  /// The mean cross-entropy over the labels (`positions` of each sample; the samples' inputs one
  /// after another), and its gradient by the parameters.
  double loss_and_gradient(std::span<const Real> parameters, std::span<const Real> inputs,
                           std::span<const std::uint8_t> labels, std::span<Real> gradient);

  /// Number of labels predicted correctly: the label's output is the largest.
  std::size_t count_right(std::span<const Real> parameters, std::span<const Real> inputs,
                          std::span<const std::uint8_t> labels);

 private:
  int samples_of(std::span<const std::uint8_t> labels) const {
    return static_cast<int>(labels.size()) / positions_;
  }
  void run_forward(const Real* parameters, const Real* inputs, int samples);
  /// Puts the loss's gradient by the outputs in their place; returns the mean loss.
  double loss_at_outputs(std::span<const std::uint8_t> labels);

  std::vector<NamedLayer<Real>> layers_;
  int positions_;
  std::vector<std::size_t> first_;  // index of each layer's first parameter
  std::vector<ParameterTensor> tensors_;
  std::size_t size_ = 0;
  std::vector<std::vector<Real>> outputs_;  // one per layer
  std::vector<Real> d_out_;
  std::vector<Real> d_in_;
};

}  // namespace gradcast::lab
