// The parameters of an execution trace: what the optimizer lists, in the order of their first use.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/import/execution/execution_trace.hpp"

namespace gradcast {

struct TracedParameter {
  std::string layer;  // "007 conv2d": the operator that first takes it
  std::string name;   // "007 conv2d.1"
  std::int64_t elements = 0;
};

struct ParameterList {
  std::vector<TracedParameter> tensors;
  std::int64_t element_bytes = 4;
  std::int64_t steps = 1;  // forward passes: how often the first parameter is taken
  std::int64_t batch = 0;  // 0: unknown
  std::int64_t forward_thread = 0;
  std::unordered_map<std::int64_t, std::size_t> by_id;       // a parameter's place
  std::unordered_map<std::int64_t, std::size_t> by_storage;  // likewise, for views of it

  /// The first parameter that an operator takes; tensors.size() for none.
  std::size_t first_taken_by(const ExecutionNode& node) const;
  std::size_t first_of_layer(std::size_t place) const;
  std::size_t last_of_layer(std::size_t place) const;
};

/// The run's parameters; no tensors where no foreach or fused optimizer lists them.
ParameterList parameters_of(const ExecutionTrace& trace);

}  // namespace gradcast
