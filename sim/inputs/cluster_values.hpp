// A cluster's properties by name, as text: listed, set, and moved by their deviation.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/inputs/cluster.hpp"
#include "sim/inputs/property_name.hpp"

namespace gradcast {

/// One property by its name in files and flags, as text.
struct ClusterProperty {
  std::string name;
  std::string value;
  std::string help{};  // what it is, with an example

  friend bool operator==(const ClusterProperty&, const ClusterProperty&) = default;
};

/// Every property with its value, overrides last: what a result prints of its cluster.
std::vector<ClusterProperty> properties_of(const Cluster& cluster);

/// `name` may be one of some nodes: "nic_bandwidth@3". Throws ValueError for an unknown property, a
/// value that is none, and what a platform file says already.
void set_property(Cluster& cluster, std::string_view name, std::string_view value);

/// The same of a name that was read, whatever a platform file says.
void set_named(Cluster& cluster, const NamedProperty& named, std::string_view value);

/// The cluster with a factor on a property's value; as it is where the property is "none".
Cluster with_factor(const Cluster& cluster, const std::string& property, double factor);

/// The cluster with a property one deviation lower, and one higher.
std::pair<Cluster, Cluster> one_deviation_about(const Cluster& cluster,
                                                const PropertyDeviation& deviation);

}  // namespace gradcast
