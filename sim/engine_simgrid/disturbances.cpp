#include "sim/engine_simgrid/disturbances.hpp"

#include <algorithm>

#include "sim/error.hpp"
#include "sim/text.hpp"

namespace gradcast {
namespace {

/// What is left of a link that is down. SimGrid would fail what is on a link without bandwidth; a
/// byte in a thousand seconds lets it wait.
constexpr double kDown = 1e-3;

/// Background traffic goes in pieces, so that it ends soon after the job.
constexpr Bytes kPiece{16 * 1024 * 1024};

/// The links that an event names: itself, or both directions.
std::vector<std::string> names_of(const std::string& link, const Topology& topology) {
  std::vector<std::string> found;
  std::vector<std::string> known;
  for (const TopologyLink& each : topology.links) {
    known.push_back(each.name);
    if (each.name == link || each.name == link + ".up" || each.name == link + ".down")
      found.push_back(each.name);
  }
  if (found.empty())
    throw ValueError("the cluster has no link '" + link + "'" + did_you_mean(link, known) +
                     " (its first is '" + (known.empty() ? "" : known.front()) + "')");
  return found;
}

bool holds(const Period& period, Seconds now) {
  return period.at <= now && (!period.lasting || now < period.at + *period.lasting);
}

}  // namespace

Disturbances::Disturbances(const World& world, const SimulatedNetwork& network,
                           SimulatedFlows& flows, EventQueue& events, std::function<bool()> over)
    : flows_(flows), events_(events), over_(std::move(over)) {
  for (const LinkEvent& event : world.links)
    for (const std::string& name : names_of(event.link, network.topology)) {
      simgrid::s4u::Link* link = find_link(name);
      const auto at = links_.try_emplace(name, Disturbed{link, link->get_bandwidth(), {}}).first;
      at->second.events.push_back(event);
    }
  for (auto& [name, disturbed] : links_)
    for (const LinkEvent& event : disturbed.events) {
      const auto change = [this, &link = disturbed] { update(link); };
      events.at(event.period.at, change);
      if (event.period.lasting) events.at(event.period.at + *event.period.lasting, change);
    }
  for (const BackgroundFlow& flow : world.flows)
    events.at(flow.period.at, [this, &flow] { go_on(flow); });
}

void Disturbances::update(Disturbed& disturbed) {
  double share = 1;
  for (const LinkEvent& event : disturbed.events)
    if (holds(event.period, events_.now())) share *= event.share;
  disturbed.link->set_bandwidth(std::max(kDown, disturbed.bandwidth * share));
}

void Disturbances::go_on(const BackgroundFlow& flow) {
  if (over_() || !holds(flow.period, events_.now())) return;
  flows_.send_at_most(flow.most, flow.from, flow.to, kPiece, [this, &flow] { go_on(flow); });
}

}  // namespace gradcast
