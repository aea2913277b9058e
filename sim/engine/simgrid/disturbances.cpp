#include "sim/engine/simgrid/disturbances.hpp"

#include <algorithm>
#include <optional>

namespace gradcast {
namespace {

/// The bandwidth of a link that is down. SimGrid would let messages fail on a link without
/// bandwidth; with a byte in thirty years they wait.
constexpr double kDown = 1e-9;

/// Wider than any link, also where thousands of events widen it: still a number.
constexpr double kWidest = 1e200;

/// More than can be sent while a job lasts.
constexpr Bytes kEndless{std::int64_t{1} << 60};

}  // namespace

Disturbances::Disturbances(const World& world, const SimulatedNetwork& network,
                           SimulatedFlows& flows, EventQueue& events, std::function<bool()> over)
    : flows_(flows), events_(events), over_(std::move(over)) {
  std::optional<LinkNames> links;
  if (!world.links.empty()) links.emplace(network.topology);  // of all links, which may be many
  for (const LinkEvent& event : world.links)
    for (const std::string& name : links->find(event.link)) {
      simgrid::s4u::Link* link = find_link(name);
      Disturbed& disturbed =
          links_.try_emplace(name, Disturbed{link, link->get_bandwidth(), 0, {}, {}}).first->second;
      disturbed.events.push_back(event);
      disturbed.active.add(event.period);
    }
  for (auto& [name, disturbed] : links_) {
    disturbed.widest = disturbed.bandwidth;
    for (const LinkEvent& event : disturbed.events)
      disturbed.widest = std::min(kWidest, disturbed.widest * std::max(1.0, event.share));
    update(disturbed);
    for (const LinkEvent& event : disturbed.events) {
      const auto change = [this, &link = disturbed] { update(link); };
      events.at(event.period.at, change);
      if (event.period.lasting) events.at(event.period.at + *event.period.lasting, change);
    }
  }
  for (const BackgroundFlow& flow : world.flows)
    events.at(flow.period.at, [this, &flow] { go_on(flow); });
}

void Disturbances::update(Disturbed& disturbed) {
  double share = 1;
  for (const std::size_t number : disturbed.active.at(events_.now()))
    share *= disturbed.events[number].share;
  flows_.set_bandwidth(disturbed.link, std::max(kDown, disturbed.bandwidth * share),
                       disturbed.widest);
}

/// Traffic is sent in pieces that become smaller towards the end of its time, because a message
/// cannot be stopped.
void Disturbances::go_on(const BackgroundFlow& flow) {
  if (over_() || !flow.period.holds(events_.now())) return;
  Bytes piece = kEndless;
  if (flow.period.lasting) {
    const Seconds left = flow.period.at + *flow.period.lasting - events_.now();
    double rate = flows_.narrowest(flow.from, flow.to).value;
    if (flow.most.value > 0) rate = std::min(rate, flow.most.value);
    const double bytes = rate * std::max(left / 16, Seconds{1e-6}).count();
    piece = {static_cast<std::int64_t>(std::clamp(bytes, 1.0, double(kEndless.count)))};
  }
  flows_.send_at_most(flow.most, flow.from, flow.to, piece, [this, &flow] { go_on(flow); });
}

}  // namespace gradcast
