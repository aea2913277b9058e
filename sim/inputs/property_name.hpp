// Names of a cluster's properties in files and flags: "nic_bandwidth", or "nic_bandwidth@4..7" of
// some nodes.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/inputs/cluster_properties.hpp"

namespace gradcast {

/// A property of all nodes, or of those from first to last.
struct NamedProperty {
  const PropertyRow* property;
  std::optional<std::pair<int, int>> nodes;

  std::string name() const;
};

/// Throws ValueError for an unknown property, for what is no node or range of nodes, and for nodes
/// of a property that is the whole cluster's.
NamedProperty parse_property_name(std::string_view name);

}  // namespace gradcast
