// The shapes of the values between an ONNX graph's nodes, as far as convolutional networks go.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "sim/import/weights/onnx_graph.hpp"

namespace gradcast {

/// Shapes of inputs and values, by the file or worked out node by node: convolutions, pooling,
/// what works element by element, concatenation, flattening, matrix products. The first size is the
/// batch. `height`, `width`: of images whose graph leaves theirs open.
std::map<std::string, OnnxShape> onnx_shapes(const OnnxGraph& graph,
                                             std::optional<std::int64_t> height,
                                             std::optional<std::int64_t> width);

/// Whether a shape is there with all sizes behind the batch known.
bool is_known(const std::map<std::string, OnnxShape>& shapes, const std::string& value);

}  // namespace gradcast
