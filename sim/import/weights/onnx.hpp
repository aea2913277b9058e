// ONNX models: gradient tensors from the initializers, their order from the graph's nodes.
#pragma once
#include <filesystem>

#include "sim/import/weights/network.hpp"

namespace gradcast {

struct OnnxNetwork {
  WeightsNetwork network;
  std::string stored_type;  // "F32": of most elements
};

/// Initializers that are trained, told from constants by their types, sizes and the nodes that take
/// them, in the order in which the nodes do. Throws DataError.
OnnxNetwork read_onnx(const std::filesystem::path& path, const WeightsChoice& choice);

}  // namespace gradcast
