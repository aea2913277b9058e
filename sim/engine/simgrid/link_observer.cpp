#include "sim/engine/simgrid/link_observer.hpp"

#include <set>

#include "sim/engine/simgrid/compat.hpp"

namespace sg4 = simgrid::s4u;

namespace gradcast {
namespace {

/// Each once: a platform file may have one link under two names.
std::vector<std::string> names_of(const Topology& topology, std::vector<sg4::Link*>& links) {
  std::vector<std::string> names;
  std::set<const sg4::Link*> known;
  for (const TopologyLink& each : topology.links) {
    sg4::Link* link = find_link(each.name);
    if (link == nullptr || !known.insert(link).second) continue;
    links.push_back(link);
    names.push_back(each.name);
  }
  return names;
}

}  // namespace

LinkObserver::LinkObserver(const SimulatedNetwork& network, std::function<bool()> over)
    : recorder_(names_of(network.topology, links_)), over_(std::move(over)) {
  // noexcept: an exception that passes through SimGrid is undefined behaviour in 3.32
  sg4::Engine::on_time_advance_cb([this](double) noexcept { time_advanced(); });
}

/// The clock has moved; what links carry is still what they carried up to now.
void LinkObserver::time_advanced() {
  const Seconds now{sg4::Engine::get_clock()};
  if (now == since_ || over_()) return;
  for (std::size_t i = 0; i < links_.size(); ++i)
    recorder_.note(i, since_, {simgrid_compat::load_of(links_[i])});
  since_ = now;
}

}  // namespace gradcast
