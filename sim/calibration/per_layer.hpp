// What selecting costs layer by layer, beside that layer's backward: `calibrate --per-layer`.
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

/// One compressor as one implementation runs it: its encode by a tensor's elements.
struct PerLayerColumn {
  std::string compressor;
  std::string mode;
  std::string implementation;
  std::map<std::int64_t, Seconds> encode;

  std::string title() const;  // "gaussian (code), torch"
};

/// The times that are there: a column may lack sizes. The last row is the sum over all tensors; a
/// share is of the backward of the tensor's whole layer.
Answer per_layer_answer(const Model& model, const IterationTrace& trace,
                        const std::vector<PerLayerColumn>& columns);

}  // namespace gradcast
