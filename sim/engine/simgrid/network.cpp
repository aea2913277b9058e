#include "sim/engine/simgrid/network.hpp"

#include <xbt/log.h>

#include "sim/engine/simgrid/compat.hpp"
#include "sim/engine/simgrid/platform_xml.hpp"

namespace sg4 = simgrid::s4u;

namespace gradcast {
namespace {

using simgrid_compat::NetPoint;
using simgrid_compat::Route;
using Direction = sg4::LinkInRoute::Direction;

sg4::LinkInRoute up(sg4::SplitDuplexLink* link) { return {link, Direction::UP}; }
sg4::LinkInRoute down(sg4::SplitDuplexLink* link) { return {link, Direction::DOWN}; }

/// Both directions of a link, without latency: flows whose routes have some share a link by its
/// inverse, so that the near ones take from the far ones. Without, all weigh the same.
sg4::SplitDuplexLink* add_link(sg4::NetZone* zone, const std::string& name,
                               BytesPerSecond bandwidth) {
  return simgrid_compat::add_duplex(zone, name, bandwidth.value, 0);
}

/// A switch is a star of everything that is connected to it. From outside it is reached by its
/// gateway.
sg4::NetZone* add_switch(sg4::NetZone* above, const std::string& name, BytesPerSecond uplink) {
  auto* zone = simgrid_compat::add_star(above, name);
  auto* gateway = simgrid_compat::add_gateway_beside_zones(zone, name);
  simgrid_compat::attach_zone(above, zone, gateway, {up(add_link(above, name, uplink))});
  return zone;
}

/// A GPU and its routes out and in, as far as they are inside the node.
struct Gpu {
  sg4::Host* host;
  Route out;
  Route in;
};

struct NodeParts {
  std::vector<Gpu> gpus;
  Route nics;  // outwards
};

NodeParts add_parts(sg4::NetZone* zone, sg4::NetZone* zone_of_nics, const std::string& name,
                    const NodeProperties& node) {
  NodeParts parts;
  auto* pcie =
      node.pcie_bandwidth.value > 0 ? add_link(zone, name + ".pcie", node.pcie_bandwidth) : nullptr;
  for (int number = 0; number < node.gpus_per_node; ++number) {
    const std::string id = name + ".gpu" + std::to_string(number);
    auto* link = add_link(zone, id, node.intra.bandwidth);
    Gpu gpu{simgrid_compat::add_host(zone, id), {up(link)}, {down(link)}};
    if (pcie != nullptr) {
      gpu.out.push_back(up(pcie));
      gpu.in.insert(gpu.in.begin(), down(pcie));
    }
    parts.gpus.push_back(std::move(gpu));
  }
  for (int number = 0; number < node.nics_per_node; ++number)
    parts.nics.push_back(
        up(add_link(zone_of_nics, name + ".nic" + std::to_string(number), node.nic.bandwidth)));
  return parts;
}

Route joined(Route way, const Route& rest) {
  way.insert(way.end(), rest.begin(), rest.end());
  return way;
}

// A single GPU needs no zone: it is connected to the switch itself. This saves time, because
// SimGrid looks through all zones whenever it adds anything, so that 4096 zones take two seconds.
// But SimGrid 3.32 finds no route, or a wrong one, from a zone to such a GPU beside it. So this is
// done only if all nodes have one GPU.
void add_single(sg4::NetZone* above, const std::string& name, const NodeProperties& node,
                std::vector<sg4::Host*>& hosts) {
  const NodeParts parts = add_parts(above, above, name, node);
  const Gpu& gpu = parts.gpus[0];
  simgrid_compat::attach_host(above, gpu.host, joined(gpu.out, {parts.nics[0]}));
  hosts.push_back(gpu.host);
}

//     gpu0 --+-- pcie --+-- nic0 --
//     gpu1 --+
void add_star_of_gpus(sg4::NetZone* above, const std::string& name, const NodeProperties& node,
                      std::vector<sg4::Host*>& hosts) {
  auto* zone = simgrid_compat::add_star(above, name);
  auto* gateway = simgrid_compat::add_gateway(zone, name + ".gateway");
  const NodeParts parts = add_parts(zone, above, name, node);
  for (const Gpu& gpu : parts.gpus) {
    simgrid_compat::attach_host(zone, gpu.host, gpu.out);
    hosts.push_back(gpu.host);
  }
  simgrid_compat::attach_zone(above, zone, gateway, parts.nics);
}

//     gpu0 --+-- pcie --+-- nic0 --     every pair has a route of its own: on the way out each GPU
//     gpu1 --+          +-- nic1 --     passes its NIC, on the way to another GPU none
void add_gpus_with_nics(sg4::NetZone* above, const std::string& name, const NodeProperties& node,
                        std::vector<sg4::Host*>& hosts) {
  auto* zone = simgrid_compat::add_full(above, name);
  auto* gateway = simgrid_compat::add_gateway(zone, name + ".gateway");
  const NodeParts parts = add_parts(zone, zone, name, node);
  for (std::size_t i = 0; i < parts.gpus.size(); ++i) {
    const Gpu& gpu = parts.gpus[i];
    for (std::size_t other = 0; other < i; ++other)
      simgrid_compat::add_route(zone, gpu.host->get_netpoint(),
                                parts.gpus[other].host->get_netpoint(),
                                joined(gpu.out, parts.gpus[other].in));
    simgrid_compat::add_route(zone, gpu.host->get_netpoint(), gateway,
                              joined(gpu.out, {parts.nics[i % parts.nics.size()]}));
    hosts.push_back(gpu.host);
  }
  simgrid_compat::attach_zone(above, zone, gateway, {});
}

/// Puts nodes on leaves, and leaves on pods, as the cluster has them. A level that the cluster
/// lacks is the root itself.
class Switches {
 public:
  Switches(const sg4::Engine& engine, const Cluster& cluster)
      : cluster_(cluster), root_(simgrid_compat::add_root_star(engine, "cluster")) {}

  sg4::NetZone* root() const { return root_; }

  /// Nodes must come in order.
  sg4::NetZone* of_node(int node) {
    if (cluster_.nodes_per_leaf == 0) return root_;
    if (node % cluster_.nodes_per_leaf == 0) next_leaf(node / cluster_.nodes_per_leaf);
    return leaf_;
  }

 private:
  void next_leaf(int leaf) {
    auto* above = root_;
    if (cluster_.leaves_per_pod > 0) {
      if (leaf % cluster_.leaves_per_pod == 0)
        pod_ = add_switch(root_, "pod" + std::to_string(leaf / cluster_.leaves_per_pod),
                          cluster_.pod_uplink_bandwidth);
      above = pod_;
    }
    leaf_ = add_switch(above, "leaf" + std::to_string(leaf), cluster_.leaf_uplink_bandwidth);
  }

  const Cluster& cluster_;
  sg4::NetZone* root_;
  sg4::NetZone* pod_ = nullptr;
  sg4::NetZone* leaf_ = nullptr;
};

}  // namespace

void configure_simgrid() {
  xbt_log_control_set("root.thres:error");  // users need no "Configuration change" messages
  // Bandwidths and latencies come in as measured between processes. The factors of SimGrid's
  // default model (13.01 on latency, 0.97 on bandwidth) stand for TCP's slow start on cold
  // connections and would hit the links inside a node too: 161 ring all-reduces became 3.34 s
  // instead of 0.44 s.
  sg4::Engine::set_config("network/model:CM02");
  // These are the defaults of that model; they are set so that a platform file cannot change them.
  sg4::Engine::set_config("network/bandwidth-factor:1");
  sg4::Engine::set_config("network/latency-factor:1");
  sg4::Engine::set_config("network/weight-S:0");
  // No TCP window: it has an effect from latencies of a millisecond on, which a LAN has only by
  // mistake.
  sg4::Engine::set_config("network/TCP-gamma:0");
  // By default a message also slows the other direction by 5 %; full-duplex links do not.
  sg4::Engine::set_config("network/crosstraffic:no");
  // Dates closer to each other than this count as one date.
  sg4::Engine::set_config(simgrid_compat::timing_precision());
}

// The routes are those of make_topology; a test compares the two.
SimulatedNetwork build_network(const sg4::Engine& engine, const Cluster& cluster) {
  if (!cluster.platform_file.empty()) return load_platform(engine, cluster);
  SimulatedNetwork network{{}, make_topology(cluster), {}};
  Switches switches(engine, cluster);
  const bool singles = cluster.ranks() == cluster.nodes &&
                       (cluster.nodes_per_leaf == 0 || simgrid_compat::kHostsBesideZones);
  for (int number = 0; number < cluster.nodes; ++number) {
    const NodeProperties node = cluster.node(number);
    const auto add = singles                   ? add_single
                     : node.nics_per_node == 1 ? add_star_of_gpus
                                               : add_gpus_with_nics;
    add(switches.of_node(number), "node" + std::to_string(number), node, network.hosts);
  }
  switches.root()->seal();  // and all inside
  for (int rank = 0; rank < cluster.ranks(); ++rank)
    network.speeds.push_back(cluster.speed_of(rank));
  return network;
}

sg4::Link* find_link(const std::string& name) {
  // SimGrid's own names first: those of a platform file.
  if (auto* link = sg4::Link::by_name_or_null(name)) return link;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const std::string direction = name.substr(dot);
  if (direction != ".up" && direction != ".down") return nullptr;
  return sg4::Link::by_name_or_null(name.substr(0, dot) + (direction == ".up" ? "_UP" : "_DOWN"));
}

}  // namespace gradcast
