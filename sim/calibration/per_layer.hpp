// The table of `calibrate --per-layer`: the cost of encoding, layer by layer, beside the layer's
// backward.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

/// The encode times of one compressor and implementation, by the elements of a tensor.
struct PerLayerColumn {
  std::string compressor;
  std::string mode;
  std::string implementation;
  std::map<std::int64_t, Seconds> encode;
  double parameter = 0;  // 0: it takes none

  std::string title() const;  // "gaussian (code), torch"
};

/// A column may lack the times of some sizes. The last row is the sum over all tensors. A share is
/// relative to the backward of the tensor's whole layer.
Answer per_layer_answer(const Model& model, const IterationTrace& trace,
                        const std::vector<PerLayerColumn>& columns);

}  // namespace gradcast
