#include "sim/plan/parameter_owners.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace gradcast {

ParameterOwners parameter_owners(const Model& model, int ranks) {
  std::vector<std::size_t> by_size(model.tensors.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return model.tensors[a].elements > model.tensors[b].elements;
  });
  using Load = std::pair<std::int64_t, std::size_t>;  // elements, rank
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  ParameterOwners owners(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < owners.size(); ++rank) least.emplace(0, rank);
  for (const std::size_t tensor : by_size) {
    const auto [elements, rank] = least.top();
    least.pop();
    owners[rank].push_back(tensor);
    least.emplace(elements + model.tensors[tensor].elements, rank);
  }
  return owners;
}

double largest_update(const Model& model, const ParameterOwners& owners) {
  std::int64_t most = 0;
  for (const std::vector<std::size_t>& own : owners) {
    std::int64_t elements = 0;
    for (const std::size_t tensor : own)
      if (!model.tensors[tensor].frozen) elements += model.tensors[tensor].elements;
    most = std::max(most, elements);
  }
  return static_cast<double>(most) / static_cast<double>(model.gradient_elements());
}

}  // namespace gradcast
