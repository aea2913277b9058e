// A network as a list of its gradient tensors, in forward order.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"

namespace gradcast {

struct GradientTensor {
  std::string layer;
  std::string tensor;
  std::int64_t elements = 0;  // fp32 values
  double forward_flops =
      0;  // per image, 2 per multiply-accumulate; 0 for a layer's further tensors
};

struct Model {
  std::string name;
  std::vector<GradientTensor> tensors;  // forward order

  std::int64_t elements() const;
  double forward_flops() const;  // per image
};

/// Reads `models/<name>.csv`: layer,tensor,elements,forward_flops. The model is named after its
/// file. Throws DataError.
Model load_model(const TextFile& file);

/// The text of such a file; `provenance` becomes its comment lines.
std::string model_csv(const Model& model, const std::vector<std::string>& provenance);

}  // namespace gradcast
