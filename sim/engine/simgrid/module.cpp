// The functions that the module gives to the program that opens it.

// version.h uses what base.h defines.
// clang-format off
#include <xbt/base.h>
#include <simgrid/version.h>
// clang-format on

#include "sim/engine/simgrid/network.hpp"
#include "sim/engine/simgrid/platform_xml.hpp"
#include "sim/engine/simgrid/simulate.hpp"
#include "sim/engine/simgrid_module.hpp"

namespace gradcast {
namespace {

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

SimgridVersion version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return {dotted(SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR, SIMGRID_VERSION_PATCH),
          dotted(major, minor, patch)};
}

std::vector<double> speeds(
    const Cluster& cluster,
    const std::function<void(const std::string&, const std::string&)>& about_to_try) {
  const simgrid::s4u::Engine engine("gradcast");
  configure_simgrid();
  const SimulatedNetwork network = build_network(engine, cluster);
  require_routes(network, cluster.platform_file.string(), about_to_try);
  return network.speeds;
}

std::vector<std::string> route(const Cluster& cluster, int from, int to) {
  const simgrid::s4u::Engine engine("gradcast");
  configure_simgrid();
  const SimulatedNetwork network = build_network(engine, cluster);
  std::vector<simgrid::s4u::Link*> passed;
  double latency = 0;
  network.hosts.at(static_cast<std::size_t>(from))
      ->route_to(network.hosts.at(static_cast<std::size_t>(to)), passed, &latency);
  std::vector<std::string> names;
  for (const auto* link : passed)
    for (const TopologyLink& known : network.topology.links)
      if (find_link(known.name) == link) names.push_back(known.name);
  return names;
}

}  // namespace
}  // namespace gradcast

[[gnu::visibility("default")]] const gradcast::SimgridModule* gradcast_simgrid() {
  using namespace gradcast;
  static constexpr SimgridModule kModule{version, simulate_exact, simulate_fluid, speeds, route};
  return &kModule;
}
