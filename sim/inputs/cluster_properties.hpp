// The one list of a cluster's properties: files, flags and results go through it.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// One row of the list. Values are text, as files and flags have them.
struct PropertyRow {
  std::string_view name;
  std::string_view help;
  enum class Of { Shape, Network, Software } of;
  bool required;
  void (*set)(Cluster&, std::string_view);
  std::string (*get)(const Cluster&);
  void (*set_node)(NodeProperties&, std::string_view);  // nullptr: no override of single nodes
};

/// All rows, in the order in which results print them.
std::span<const PropertyRow> property_rows();

/// Throws ValueError for an unknown name.
const PropertyRow& find_property(std::string_view name);

/// Smallest value of compute_speed.
inline constexpr double kSlowestSpeed = 1e-3;

/// A value of compute_speed: "0.5" for half of the trace's. Throws ValueError.
double parse_speed(std::string_view text);

}  // namespace gradcast
