// A network that classifies: layers one after another, and the mean cross-entropy of what comes
// out.
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
  /// output has an element a class.
  explicit Network(std::vector<NamedLayer<Real>> layers);

  Shape input() const { return layers_.front().layer->input(); }
  int classes() const { return static_cast<int>(layers_.back().layer->output().size()); }

  /// All tensors of parameters, in forward order. They lie in one vector, in this order.
  const std::vector<ParameterTensor>& tensors() const { return tensors_; }
  /// The number of parameters.
  std::size_t size() const { return size_; }

  /// The parameters that a training with this seed begins with.
  std::vector<Real> first_parameters(std::uint64_t seed) const;

  /// The mean cross-entropy over the samples (`labels`, one each; their inputs one after another),
  /// and its gradient by the parameters.
  double loss_and_gradient(std::span<const Real> parameters, std::span<const Real> inputs,
                           std::span<const std::uint8_t> labels, std::span<Real> gradient);

  /// How many of the samples' largest outputs are those of their labels.
  std::size_t count_right(std::span<const Real> parameters, std::span<const Real> inputs,
                          std::span<const std::uint8_t> labels);

 private:
  void run_forward(const Real* parameters, const Real* inputs, int samples);
  /// Puts the loss's gradient by the outputs in their place; returns the mean loss.
  double loss_at_outputs(std::span<const std::uint8_t> labels);

  std::vector<NamedLayer<Real>> layers_;
  std::vector<std::size_t> first_;  // of each layer: where its parameters begin
  std::vector<ParameterTensor> tensors_;
  std::size_t size_ = 0;
  std::vector<std::vector<Real>> outputs_;  // of each layer
  std::vector<Real> d_out_;
  std::vector<Real> d_in_;
};

}  // namespace gradcast::lab
