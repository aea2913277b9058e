// The model and the iteration trace, from what the steps showed of each gradient, and from names
// and sizes as the owner of the model gives them: --params.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/import/kineto/gradients.hpp"
#include "sim/import/kineto/sizes.hpp"

namespace gradcast::kineto {

struct Parameter {
  std::string layer;  // "layer1.0.conv1"
  std::string name;   // "layer1.0.conv1.weight"
  std::int64_t elements = 0;
};

/// A CSV file with the columns tensor and elements, in the order of model.named_parameters(); a
/// model file of gradcast is one. Throws DataError.
std::vector<Parameter> load_parameters(const TextFile& file);

struct TimedModel {
  Model model;
  std::vector<TensorTime> times;  // of its tensors
  bool forward_known = false;     // else the forward pass is divided as the backward pass is
  int batch = -1;                 // -1: not recorded
};

/// The model of steps with the same gradients, in forward order; times are medians. Model files
/// have layers in forward order, and gradients are done in the opposite one. `parameters`: names
/// for the tensors, in forward order; empty: they are named after their operators.
TimedModel timed_model(const std::vector<StepGradients>& steps,
                       const std::vector<std::int64_t>& elements,
                       const std::vector<Parameter>& parameters);

/// Gives the trace the dates at which the host has launched its parts, medians of the steps, since
/// the step's first kernel began. `latency`: from a launch to the begin of its kernel.
void set_launches(const std::vector<StepGradients>& steps, Nanoseconds latency,
                  IterationTrace& trace);

/// For each gradient in the order of readiness, its place in forward order: groups turn round, and
/// the gradients of a group keep their order.
std::vector<std::size_t> forward_places(const std::vector<Gradient>& gradients);

}  // namespace gradcast::kineto
