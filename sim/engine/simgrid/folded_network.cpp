#include "sim/engine/simgrid/folded_network.hpp"

#include "sim/engine/simgrid/compat.hpp"

namespace sg4 = simgrid::s4u;

namespace gradcast {

SimulatedNetwork fold_network(const sg4::Engine& engine, const Cluster& cluster,
                              Topology topology) {
  SimulatedNetwork network{{}, std::move(topology), {}};
  auto* zone = simgrid_compat::add_root_star(engine, "node");
  const auto add_link = [&](const std::string& name, BytesPerSecond bandwidth) {
    return sg4::LinkInRoute(simgrid_compat::add_duplex(zone, name, bandwidth.value, 0),
                            sg4::LinkInRoute::Direction::UP);
  };
  simgrid_compat::Route pcie;
  const NodeProperties node = cluster.node(0);  // with what stacks take off its links
  if (node.pcie_bandwidth.value > 0) pcie = {add_link("node0.pcie", node.pcie_bandwidth)};
  simgrid_compat::Route nics;
  for (int nic = 0; nic < node.nics_per_node; ++nic)
    nics.push_back(add_link("node0.nic" + std::to_string(nic), node.nic.bandwidth));
  std::vector<simgrid_compat::Route> inside;  // by GPU: outwards
  for (int gpu = 0; gpu < node.gpus_per_node; ++gpu) {
    inside.push_back({add_link("node0.gpu" + std::to_string(gpu), node.intra.bandwidth)});
    inside.back().insert(inside.back().end(), pcie.begin(), pcie.end());
  }
  for (const char* way : {".leaves", ".arrives"})
    for (const bool between_nodes : {false, true})
      for (std::size_t gpu = 0; gpu < inside.size(); ++gpu) {
        simgrid_compat::Route route = inside[gpu];
        if (between_nodes) route.push_back(nics[gpu % nics.size()]);
        auto* host = simgrid_compat::add_host(
            zone, "gpu" + std::to_string(gpu) + way + (between_nodes ? ".node" : ""));
        simgrid_compat::attach_host(zone, host, route);
        network.hosts.push_back(host);
      }
  zone->seal();
  return network;
}

}  // namespace gradcast
