#include "sim/estimates.hpp"

#include <algorithm>
#include <array>

#include "sim/error.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kSuffix = "-fitted";

bool fitted(const std::string& name) { return name.ends_with(kSuffix); }

bool known(const DataFiles& files, const DataKind& kind, const std::string& name) {
  const std::vector<std::string> names = files.names(kind);
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What a fitted file was made from, where that is still there.
std::string unfitted(const std::string& name, const DataKind& kind, const DataFiles& files) {
  if (!fitted(name)) return name;
  const std::string base = name.substr(0, name.size() - kSuffix.size());
  return known(files, kind, base) ? base : name;
}

/// Its own fit, where there is one.
std::string fit_of(const std::string& name, const DataKind& kind, const DataFiles& files) {
  const std::string its_fit = name + std::string(kSuffix);
  return !fitted(name) && known(files, kind, its_fit) ? its_fit : name;
}

constexpr std::array<std::string_view, 9> kSoftware = {
    "per_message_latency",    "per_collective_latency", "per_tensor_negotiation",
    "per_iteration_overhead", "communication_slowdown", "eager_limit",
    "reduction_bandwidth",    "forecast_deviation",     "forecast_deviation_share"};

bool is_software(const std::string& property) {
  return std::find(kSoftware.begin(), kSoftware.end(), property) != kSoftware.end();
}

/// What the request itself says of the software stays.
void take_software(Cluster& cluster, const Cluster& from, const Request& request) {
  const auto asked = [&](const std::string& name) {
    return std::any_of(request.changed.begin(), request.changed.end(),
                       [&](const ClusterProperty& property) { return property.name == name; });
  };
  for (const ClusterProperty& property : properties_of(from))
    if (is_software(property.name) && !asked(property.name))
      set_property(cluster, property.name, property.value);
  std::erase_if(cluster.deviations,
                [](const PropertyDeviation& each) { return is_software(each.property); });
  for (const PropertyDeviation& deviation : from.deviations)
    if (is_software(deviation.property) && !asked(deviation.property))
      cluster.deviations.push_back(deviation);
}

}  // namespace

Estimates estimates_of(const Request& request, const std::string& software,
                       const DataFiles& files) {
  Estimates both{{request}, std::nullopt};
  if (software == "none") return both;
  both.physics.request.cluster = unfitted(request.cluster, kClusters, files);
  both.physics.request.costs = unfitted(request.costs, kCostTables, files);
  both.fitted = Asked{request};
  Request& fit = both.fitted->request;
  fit.cluster = fit_of(request.cluster, kClusters, files);
  fit.costs = fit_of(request.costs, kCostTables, files);
  if (!fitted(fit.cluster)) both.fitted->software = software;
  return both;
}

Scenario make_scenario(const Asked& asked, DataFiles& files) {
  Scenario scenario = make_scenario(asked.request, files);
  if (!asked.software.empty())
    take_software(scenario.cluster, load_cluster(files.read(kClusters, asked.software)),
                  asked.request);
  return scenario;
}

}  // namespace gradcast
