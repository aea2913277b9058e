#include "sim/engine_simgrid/network.hpp"

#include "sim/engine_simgrid/compat.hpp"

namespace sg4 = simgrid::s4u;

namespace gradcast {
namespace {

using Direction = sg4::LinkInRoute::Direction;

/// What a node's GPUs reach the outside through.
struct Node {
  sg4::NetZone* zone;
  simgrid_compat::NetPoint* gateway;
  std::vector<sg4::Host*> gpus;
};

Node build_node(sg4::NetZone* root, const std::string& name, const Cluster& cluster) {
  auto* zone = simgrid_compat::add_full(root, name);
  Node node{zone, simgrid_compat::add_gateway(zone, name + "_gateway"), {}};
  // Adds its latency to each message inside the node; a fat pipe divides its bandwidth among none.
  auto* fabric = simgrid_compat::add_link(zone, name + "_fabric", cluster.intra.bandwidth.value);
  fabric->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE)
      ->set_latency(cluster.intra.latency.count());
  std::vector<sg4::SplitDuplexLink*> links;
  for (int gpu = 0; gpu < cluster.gpus_per_node; ++gpu) {
    const std::string id = name + "_gpu" + std::to_string(gpu);
    auto* host = simgrid_compat::add_host(zone, id);
    auto* link = simgrid_compat::add_duplex(zone, id + "_link", cluster.intra.bandwidth.value, 0);
    for (std::size_t other = 0; other < links.size(); ++other)
      simgrid_compat::add_route(
          zone, host->get_netpoint(), node.gpus[other]->get_netpoint(),
          {{link, Direction::UP}, sg4::LinkInRoute(fabric), {links[other], Direction::DOWN}});
    simgrid_compat::add_route(zone, host->get_netpoint(), node.gateway, {{link, Direction::UP}});
    node.gpus.push_back(host);
    links.push_back(link);
  }
  zone->seal();
  return node;
}

}  // namespace

void configure_simgrid() {
  // Bandwidths and latencies come in as measured between processes. The factors of SimGrid's
  // default model (13.01 on latency, 0.97 on bandwidth) stand for TCP's slow start on cold
  // connections and would hit the links inside a node too: 161 ring all-reduces became 3.34 s
  // instead of 0.44 s.
  sg4::Engine::set_config("network/model:CM02");
  // No TCP window: it bites from latencies of a millisecond on, which a LAN has only by mistake.
  sg4::Engine::set_config("network/TCP-gamma:0");
  // By default a message also slows the other direction by 5 %; full-duplex links do not.
  sg4::Engine::set_config("network/crosstraffic:no");
  // Dates nearer to each other than this are one date.
  sg4::Engine::set_config(simgrid_compat::timing_precision());
}

//     gpu -- fabric -- gpu                   inside a node: intra bandwidth and latency
//     gpu -- nic == switch == nic -- gpu     across: the slower bandwidth, and the NIC's latency
std::vector<sg4::Host*> build_network(const sg4::Engine& engine, const Cluster& cluster) {
  auto* root = simgrid_compat::add_root_star(engine, "cluster");
  std::vector<sg4::Host*> ranks;
  for (int number = 0; number < cluster.nodes; ++number) {
    const std::string name = "node" + std::to_string(number);
    const Node node = build_node(root, name, cluster);
    // Up one NIC, through the switch, down another: each carries half of the way's latency.
    auto* nic = simgrid_compat::add_duplex(root, name + "_nic", cluster.nic.bandwidth.value,
                                           cluster.nic.latency.count() / 2);
    simgrid_compat::attach_zone(root, node.zone, node.gateway, {{nic, Direction::UP}});
    ranks.insert(ranks.end(), node.gpus.begin(), node.gpus.end());
  }
  root->seal();
  return ranks;
}

}  // namespace gradcast
