#include "sim/inputs/cluster_values.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/cluster_properties.hpp"

namespace gradcast {
namespace {

/// Printed in place of the network properties that a SimGrid platform file gives.
constexpr std::string_view kOfPlatform = "as the platform file";

std::string value_of(const PropertyRow& property, const Cluster& cluster) {
  if (!cluster.platform_file.empty() && property.of == PropertyRow::Of::Network)
    return std::string(kOfPlatform);
  return property.get(cluster);
}

}  // namespace

std::vector<ClusterProperty> properties_of(const Cluster& cluster) {
  std::vector<ClusterProperty> all;
  for (const PropertyRow& property : property_rows())
    all.push_back(
        {std::string(property.name), value_of(property, cluster), std::string(property.help)});
  for (const NodeOverride& override : cluster.overrides())
    all.push_back({override.name(), override.value, ""});
  return all;
}

void set_named(Cluster& cluster, const NamedProperty& named, std::string_view value) {
  const PropertyRow& property = *named.property;
  if (named.nodes) {
    Cluster tried;
    property.set_node(tried, value);
    cluster.add_override(
        {std::string(property.name), named.nodes->first, named.nodes->second, property.get(tried)});
  } else {
    property.set(cluster, value);
  }
  cluster.lay_out_ranks();
}

void set_property(Cluster& cluster, std::string_view name, std::string_view value) {
  const NamedProperty named = parse_property_name(name);
  if (cluster.platform_file.empty() || named.property->of == PropertyRow::Of::Software)
    return set_named(cluster, named, value);
  for (const ClusterProperty& said : properties_of(cluster))
    if (said.name == name && said.value == value) return;
  throw ValueError("that is said by the platform file; change it in " +
                   in_quotes(cluster.platform_file.string()));
}

namespace {

/// The cluster with a property at so many times a value; as it is where the value is "none".
Cluster at_times(const Cluster& cluster, const std::string& property, const std::string& value,
                 double factor) {
  Cluster other = cluster;
  // A value is a number and its unit.
  const std::size_t unit = value.find_first_not_of("0123456789.e+-");
  if (value.empty() || unit == 0) return other;
  set_property(other, property,
               number_to_text(parse_number(value.substr(0, unit)) * factor) +
                   (unit == std::string::npos ? "" : value.substr(unit)));
  return other;
}

}  // namespace

Cluster with_factor(const Cluster& cluster, const std::string& property, double factor) {
  return at_times(cluster, property, find_property(property).get(cluster), factor);
}

std::pair<Cluster, Cluster> one_deviation_about(const Cluster& cluster,
                                                const PropertyDeviation& deviation) {
  const std::string value = deviation.of_zero.empty()
                                ? find_property(deviation.property).get(cluster)
                                : deviation.of_zero;
  const auto moved = [&](double factor) {
    return at_times(cluster, deviation.property, value, factor);
  };
  // Nothing lies below 0. Two deviations add twice as much as one, so half of the difference is
  // that of one.
  if (!deviation.of_zero.empty()) return {cluster, moved(2)};
  // A rate may not come down to nothing.
  return {moved(std::max(0.01, 1 - deviation.share)), moved(1 + deviation.share)};
}

}  // namespace gradcast
