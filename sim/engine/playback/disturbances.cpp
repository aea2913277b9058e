#include "sim/engine/playback/disturbances.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace gradcast {
namespace {

/// The bandwidth of a link that is down: a byte in thirty years. SimGrid would let messages fail on
/// a link without bandwidth; so they wait.
constexpr double kDown = 1e-9;

/// Wider than any link, also where thousands of events widen it: still a number.
constexpr double kWidest = 1e200;

/// More than can be sent while a job lasts.
constexpr Bytes kEndless{std::int64_t{1} << 60};

}  // namespace

Disturbances::Disturbances(const World& world, const Topology& topology, FlowNetwork& network,
                           EventQueue& events, std::function<bool()> over)
    : network_(network), events_(events), over_(std::move(over)) {
  if (!world.links.empty()) disturb_links(world, topology);
  for (const BackgroundFlow& flow : world.flows) {
    const FlowNetwork::Way way = network.way_at_most(flow.most, flow.from, flow.to);
    events.at(flow.period.at, [this, &flow, way] { go_on(flow, way); });
  }
}

void Disturbances::disturb_links(const World& world, const Topology& topology) {
  const LinkNames names(topology);
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < topology.links.size(); ++i)
    numbers.emplace(topology.links[i].name, i);
  for (const LinkEvent& event : world.links)
    for (const std::string& name : names.find(event.link)) {
      const std::size_t link = numbers.at(name);
      Disturbed& disturbed =
          links_.try_emplace(link, Disturbed{.bandwidth = topology.links[link].bandwidth.value})
              .first->second;
      disturbed.events.push_back(event);
      disturbed.active.add(event.period);
    }
  for (auto& [link, disturbed] : links_) {
    disturbed.widest = disturbed.bandwidth;
    for (const LinkEvent& event : disturbed.events)
      disturbed.widest = std::min(kWidest, disturbed.widest * std::max(1.0, event.share));
    update(link, disturbed);
    for (const LinkEvent& event : disturbed.events) {
      const auto change = [this, link = link, &disturbed = disturbed] { update(link, disturbed); };
      events_.at(event.period.at, change);
      if (event.period.lasting) events_.at(event.period.at + *event.period.lasting, change);
    }
  }
}

void Disturbances::update(std::size_t link, Disturbed& disturbed) {
  double share = 1;
  for (const std::size_t number : disturbed.active.at(events_.now()))
    share *= disturbed.events[number].share;
  network_.set_bandwidth(link, {std::max(kDown, disturbed.bandwidth * share)}, {disturbed.widest});
}

/// Traffic is sent in pieces that become smaller towards the end of its time, because a message
/// cannot be stopped.
void Disturbances::go_on(const BackgroundFlow& flow, FlowNetwork::Way way) {
  if (over_() || !flow.period.holds(events_.now())) return;
  Bytes piece = kEndless;
  if (flow.period.lasting) {
    const Seconds left = flow.period.at + *flow.period.lasting - events_.now();
    double rate = network_.narrowest(way).value;
    if (flow.most.value > 0) rate = std::min(rate, flow.most.value);
    const double bytes = rate * std::max(left / 16, Seconds{1e-6}).count();
    piece = {static_cast<std::int64_t>(std::clamp(bytes, 1.0, double(kEndless.count)))};
  }
  network_.send(way, piece, [this, &flow, way] { go_on(flow, way); });
}

}  // namespace gradcast
