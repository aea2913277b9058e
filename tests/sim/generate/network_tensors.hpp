// The generated networks' tensors, by name.
#pragma once
#include <stdexcept>
#include <string>

#include "sim/generate/networks.hpp"

namespace gradcast {

inline Model model(const std::string& name) {
  return model_of(name, network_named(name).architecture);
}

inline const GradientTensor& tensor(const Model& model, const std::string& name) {
  for (const GradientTensor& each : model.tensors)
    if (each.tensor == name) return each;
  throw std::logic_error("no tensor '" + name + "'");
}

}  // namespace gradcast
