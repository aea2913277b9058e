#include "sim/plan/recomputation.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/plan/shard_units.hpp"

namespace gradcast {
namespace {

std::vector<ShardUnit> units_of(const Model& model) {
  if (model.tensors.front().unit.empty())
    throw ValueError("model '" + model.name +
                     "' names no units (column 'unit'), and recomputation goes unit by unit: leave "
                     "recompute out");
  return shard_units(model, 0);
}

std::int64_t kept_bytes(const GradientTensor& tensor) {
  return tensor.kept_elements * bytes_of(tensor.activation_type) + tensor.kept_bytes;
}

std::int64_t kept_bytes(const Model& model, const ShardUnit& unit) {
  std::int64_t sum = 0;
  for (const std::size_t tensor : unit.tensors) sum += kept_bytes(model.tensors[tensor]);
  return sum;
}

}  // namespace

std::optional<Bytes> activations_of_sample(const Model& model, Recompute recompute) {
  if (!model.has_activations()) return std::nullopt;
  std::int64_t sum = 0;
  if (recompute == Recompute::None) {
    for (const GradientTensor& tensor : model.tensors) sum += kept_bytes(tensor);
    return Bytes{sum};
  }
  const std::vector<ShardUnit> units = units_of(model);
  std::int64_t inputs = 0;
  std::int64_t most = 0;
  for (const ShardUnit& unit : units) {
    const GradientTensor& first = model.tensors[unit.first];
    if (&unit != &units.back()) inputs += first.unit_input * bytes_of(first.activation_type);
    most = std::max(most, inputs + kept_bytes(model, unit));
  }
  return Bytes{most};
}

IterationTrace with_recomputation(IterationTrace trace, const Model& model) {
  const std::vector<ShardUnit> units = units_of(model);
  // The host launches the forward of a unit once more before the unit's backward, so that
  // everything after it is launched later by the time that this takes.
  Seconds later{0};
  for (std::size_t i = units.size() - 1; i-- > 0;) {
    const auto first = trace.tensors.begin() + static_cast<std::ptrdiff_t>(units[i].first);
    const auto end = trace.tensors.begin() + static_cast<std::ptrdiff_t>(units[i].end);
    Seconds forward{0};
    for (auto time = first; time != end; ++time) forward += time->forward;
    const Seconds launching = std::max(Seconds{0}, end->forward_launch - first->forward_launch);
    for (auto time = first; time != end; ++time) {
      const bool begins = time == end - 1;
      if (begins) time->backward += forward;
      time->backward_launch += begins ? later : later + launching;
    }
    later += launching;
  }
  trace.update_launch += later;
  trace.host += later;
  return trace;
}

}  // namespace gradcast
