#include "sim/plan/shard_units.hpp"

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

ShardUnit unit_of(const Model& model, std::size_t first, std::size_t end) {
  ShardUnit unit{.first = first, .end = end, .tensors = {}, .gradients = {}};
  for (std::size_t i = first; i < end; ++i) {
    unit.tensors.push_back(i);
    unit.parameters = unit.parameters + model.tensors[i].bytes();
  }
  for (std::size_t i = end; i-- > first;)
    if (!model.tensors[i].frozen) unit.gradients.add(model, i);
  return unit;
}

}  // namespace

std::vector<ShardUnit> shard_units(const Model& model, std::int64_t least_elements) {
  const bool by_size = least_elements > 0;
  if (!by_size && model.tensors.front().unit.empty())
    throw ValueError("model '" + model.name +
                     "' names no units (column 'unit'), and FSDP gathers unit by unit: say how "
                     "many parameters make one with unit-size, like 20M");
  std::vector<ShardUnit> units;
  std::size_t first = 0;
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    elements += model.tensors[i].elements;
    const bool last = i + 1 == model.tensors.size();
    const bool ends = last || (by_size ? elements >= least_elements &&
                                             model.tensors[i + 1].layer != model.tensors[i].layer
                                       : model.tensors[i + 1].unit != model.tensors[i].unit);
    if (!ends) continue;
    units.push_back(unit_of(model, first, i + 1));
    first = i + 1;
    elements = 0;
  }
  return units;
}

}  // namespace gradcast
