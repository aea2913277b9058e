// The networks that can be trained.
#pragma once
#include <span>
#include <string_view>

#include "sim/lab/dataset.hpp"
#include "sim/lab/network.hpp"

namespace gradcast::lab {

struct NetworkKind {
  std::string_view name;
  std::string_view summary;
  DatasetKind takes;
  const char* batch;  // default per worker
  const char* learning_rate;
  /// `input`: a sample's shape. Throws ValueError if the network cannot take it.
  Network<float> (*make)(Shape input, int classes);
  /// The same with doubles, to check gradients.
  Network<double> (*make_double)(Shape input, int classes);
};

/// In networks.def order.
std::span<const NetworkKind> all_networks();

/// Throws ValueError with the known names.
const NetworkKind& find_network(std::string_view name);

}  // namespace gradcast::lab
