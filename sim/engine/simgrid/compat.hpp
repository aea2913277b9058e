// Calls that differ between SimGrid 3.32 (Debian 12) and 4.1: the platform calls were renamed in
// 4.0, the completion callbacks in 3.34, the gateways in 3.35; 4.1 finds routes in another way.
#pragma once
#include <simgrid/version.h>

#include <functional>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace gradcast::simgrid_compat {

namespace sg4 = simgrid::s4u;
using NetPoint = simgrid::kernel::routing::NetPoint;
using Route = std::vector<sg4::LinkInRoute>;

inline sg4::NetZone* add_root_star(const sg4::Engine& engine, const std::string& name) {
#if SIMGRID_VERSION >= 40000
  return engine.get_netzone_root()->add_netzone_star(name);
#else
  static_cast<void>(engine);  // 3.x: the zone without a parent is the root
  return sg4::create_star_zone(name);
#endif
}

inline sg4::NetZone* add_full(sg4::NetZone* parent, const std::string& name) {
#if SIMGRID_VERSION >= 40000
  return parent->add_netzone_full(name);
#else
  auto* zone = sg4::create_full_zone(name);
  zone->set_parent(parent);
  return zone;
#endif
}

inline sg4::NetZone* add_star(sg4::NetZone* parent, const std::string& name) {
#if SIMGRID_VERSION >= 40000
  return parent->add_netzone_star(name);
#else
  auto* zone = sg4::create_star_zone(name);
  zone->set_parent(parent);
  return zone;
#endif
}

inline sg4::Host* add_host(sg4::NetZone* zone, const std::string& name) {
#if SIMGRID_VERSION >= 40000
  return zone->add_host(name, 1.0);
#else
  return zone->create_host(name, 1.0);
#endif
}

/// bandwidth in bytes/s, latency in seconds, both of each direction
inline sg4::SplitDuplexLink* add_duplex(sg4::NetZone* zone, const std::string& name,
                                        double bandwidth, double latency) {
#if SIMGRID_VERSION >= 40000
  auto* link = zone->add_split_duplex_link(name, bandwidth);
#else
  auto* link = zone->create_split_duplex_link(name, bandwidth);
#endif
  link->set_latency(latency);
  return link;
}

/// The router by which others reach the zone. It belongs to the zone or to one inside it.
inline void set_gateway(sg4::NetZone* zone, NetPoint* router) {
#if SIMGRID_VERSION >= 33500
  zone->set_gateway(router);
#else
  static_cast<void>(zone);  // 3.32: every route names its gateways
  static_cast<void>(router);
#endif
}

inline NetPoint* add_gateway(sg4::NetZone* zone, const std::string& name) {
#if SIMGRID_VERSION >= 40000
  auto* router = zone->add_router(name);
#else
  auto* router = zone->create_router(name);
#endif
  set_gateway(zone, router);
  return router;
}

/// Inside a zone, in both directions.
inline void add_route(sg4::NetZone* zone, NetPoint* from, NetPoint* to, const Route& links) {
#if SIMGRID_VERSION >= 33600
  zone->add_route(from, to, links, true);
#else
  zone->add_route(from, to, nullptr, nullptr, links, true);
#endif
}

/// Adds the route from a host to all others in a star, and back.
inline void attach_host(sg4::NetZone* star, const sg4::Host* host, const Route& up) {
#if SIMGRID_VERSION >= 33500
  star->add_route(host, nullptr, up, true);
#else
  star->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, up, true);
#endif
}

/// Adds the route from a child zone to all others in a star.
inline void attach_zone(sg4::NetZone* star, sg4::NetZone* child, NetPoint* gateway,
                        const Route& up) {
#if SIMGRID_VERSION >= 33500
  static_cast<void>(gateway);
  star->add_route(child, nullptr, up, true);
#else
  star->add_route(child->get_netpoint(), nullptr, gateway, nullptr, up, true);
#endif
}

/// The gateway of a star that has zones inside. Up to 4.0, SimGrid finds no route from a zone to a
/// router beside it, so the router needs a zone of its own. 4.1 aborts where the router of a zone
/// is not in the zone itself.
inline NetPoint* add_gateway_beside_zones(sg4::NetZone* star, const std::string& name) {
#if SIMGRID_VERSION >= 40100
  return add_gateway(star, name + ".gateway");
#else
  auto* exit = add_full(star, name + ".exit");
  auto* gateway = add_gateway(exit, name + ".gateway");
  attach_zone(star, exit, gateway, {});
  set_gateway(star, gateway);
  return gateway;
#endif
}

/// Whether a host in such a star finds its way to the gateway. 4.0 aborts; 3.36 was not tried.
inline constexpr bool kHostsBesideZones = SIMGRID_VERSION < 33300 || SIMGRID_VERSION >= 40100;

inline void on_message_completion(const std::function<void(const sg4::Comm&)>& callback) {
#if SIMGRID_VERSION >= 33400
  sg4::Comm::on_completion_cb(callback);
#else
  sg4::Activity::on_completion_cb([callback](const sg4::Activity& activity) {
    if (const auto* comm = dynamic_cast<const sg4::Comm*>(&activity)) callback(*comm);
  });
#endif
}

/// The load of a link now, in bytes/s.
inline double load_of(const sg4::Link* link) {
#if SIMGRID_VERSION >= 33400
  return link->get_load();
#else
  return link->get_usage();
#endif
}

inline const char* timing_precision() {
#if SIMGRID_VERSION >= 33400
  return "precision/timing:1e-12";
#else
  return "surf/precision:1e-12";
#endif
}

}  // namespace gradcast::simgrid_compat
