// Every collective on every shape of a cluster: the cases of the contract.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/network/collective.hpp"

namespace gradcast::contract {

inline std::vector<RankLayout> layouts() {
  std::vector<RankLayout> all;
  for (int ranks = 1; ranks <= 17; ++ranks) all.push_back(even_layout(ranks, 1));
  for (const int ranks : {31, 32, 33, 48, 63, 64}) all.push_back(even_layout(ranks, 1));
  for (const int gpus : {2, 3, 8, 13}) all.push_back(even_layout(1, gpus));
  for (const auto& [nodes, gpus] :
       {std::pair{2, 2}, {2, 3}, {3, 2}, {3, 5}, {4, 4}, {4, 8}, {6, 8}})
    all.push_back(even_layout(nodes, gpus));
  all.push_back({{0, 3, 4}});
  all.push_back({{0, 4, 10, 12}});
  return all;
}

/// The table, and what it has around encodings.
inline std::vector<const Collective*> all_described() {
  std::vector<const Collective*> all;
  for (const Collective* collective : all_collectives()) {
    all.push_back(collective);
    for (const Collective* around : {collective->before, collective->after})
      if (around != nullptr) all.push_back(around);
  }
  return all;
}

inline bool has_levels(const Collective& collective) {
  return collective.name.starts_with("two-level") || collective.name.starts_with("node-");
}

inline CollectiveLoad equal_load(std::int64_t payload) {
  return {.payload = {payload}, .elements = std::max<std::int64_t>(1, payload)};
}

inline CollectiveLoad unequal_load(const RankLayout& layout) {
  CollectiveLoad load{.elements = 100'000};
  for (int rank = 0; rank < layout.ranks(); ++rank)
    load.contributions.push_back({8 * (1000 + (rank * 7919) % 613)});
  load.payload = *std::max_element(load.contributions.begin(), load.contributions.end());
  return load;
}

}  // namespace gradcast::contract
