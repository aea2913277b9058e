// Casts, quantisers and PowerSGD, each as the PyTorch operators that its definition takes: nothing
// is fused, as in the frameworks that run them in Python.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/generate/torch_operators.hpp"

namespace gradcast {

/// Operators over all elements, each with how often it runs.
using Passes = std::vector<TorchOperator>;

struct TorchPacker {
  std::string_view name;
  std::string_view mode;
  double parameter;  // the row's parameter; 0: the operators are the same for any
  Passes encode;
  Passes decode_each;  // per worker's payload; once for an all-reduced sum
  Passes decode_all;   // once
};

/// In compressors.def order.
const std::vector<TorchPacker>& torch_packers();

/// The operators on so many elements.
std::vector<OperatorCall> calls_of(const Passes& passes, std::int64_t elements);

}  // namespace gradcast
