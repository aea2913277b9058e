// Names and sizes of a model's parameters, as its owner gives them: --params.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"

namespace gradcast::kineto {

struct Parameter {
  std::string layer;  // "layer1.0.conv1"
  std::string name;   // "layer1.0.conv1.weight"
  std::int64_t elements = 0;
};

/// A CSV file with the columns tensor and elements, in the order of model.named_parameters(); a
/// model file of gradcast is one. Throws DataError.
std::vector<Parameter> load_parameters(const TextFile& file);

}  // namespace gradcast::kineto
