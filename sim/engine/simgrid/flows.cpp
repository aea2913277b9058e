#include "sim/engine/simgrid/flows.hpp"

#include <algorithm>
#include <limits>
#include <simgrid/kernel/Timer.hpp>

#include "sim/engine/simgrid/compat.hpp"

namespace sg4 = simgrid::s4u;

namespace gradcast {

SimulatedFlows::SimulatedFlows(const sg4::Engine& engine, const SimulatedNetwork& network,
                               EventQueue& events)
    : engine_(engine), network_(network), events_(events) {
  events_.on_earlier = [this](Seconds when) { wake_at(when); };
  // noexcept: an exception that passes through SimGrid is undefined behaviour in 3.32
  simgrid_compat::on_message_completion(
      [this](const sg4::Comm& comm) noexcept { completed(comm); });
}

FlowNetwork::Way SimulatedFlows::way(int from, int to) {
  const auto [known, is_new] = known_ways_.try_emplace({from, to});
  if (is_new) known->second = way_at_most({}, from, to);
  return known->second;
}

FlowNetwork::Way SimulatedFlows::way_at_most(BytesPerSecond most, int from, int to) {
  ways_.push_back({network_.hosts[static_cast<std::size_t>(from)],
                   network_.hosts[static_cast<std::size_t>(to)], most});
  return static_cast<Way>(ways_.size() - 1);
}

void SimulatedFlows::send(Way way, Bytes bytes, Action sent) {
  const Ends& ends = ways_[way];
  if (free_.empty()) free_.push_back(&flows_.emplace_back());
  Flow* flow = free_.back();
  free_.pop_back();
  flow->sent = std::move(sent);
  flow->comm = sg4::Comm::sendto_init();
  flow->comm->set_payload_size(static_cast<std::uint64_t>(bytes.count));
  flow->comm->set_data(flow);  // before set_destination, which starts it
  flow->comm->set_source(ends.from);
  for (const auto& [link, width] : changing_) link->set_bandwidth(width.widest);
  sg4::Link* first = ends.most.value > 0 ? links_of(ends).front() : nullptr;
  const double of_first = first != nullptr ? first->get_bandwidth() : 0;
  if (first != nullptr) first->set_bandwidth(std::min(ends.most.value, of_first));
  flow->comm->set_destination(ends.to);
  if (first != nullptr) first->set_bandwidth(of_first);
  for (const auto& [link, width] : changing_) link->set_bandwidth(width.bandwidth);
}

void SimulatedFlows::set_bandwidth(std::size_t link, BytesPerSecond bandwidth,
                                   BytesPerSecond widest) {
  sg4::Link* simulated = find_link(network_.topology.links[link].name);
  changing_[simulated] = {bandwidth.value, widest.value};
  simulated->set_bandwidth(bandwidth.value);
}

std::vector<sg4::Link*> SimulatedFlows::links_of(const Ends& ends) {
  std::vector<sg4::Link*> links;
  double latency = 0;
  ends.from->route_to(ends.to, links, &latency);
  return links;
}

BytesPerSecond SimulatedFlows::narrowest(Way way) const {
  double least = std::numeric_limits<double>::infinity();
  for (const sg4::Link* link : links_of(ways_[way])) least = std::min(least, link->get_bandwidth());
  return {least};
}

void SimulatedFlows::completed(const sg4::Comm& comm) {
  if (stopped_) return;
  try {
    auto* flow = comm.get_data<Flow>();
    events_.advance_to(Seconds{sg4::Engine::get_clock()});
    Action sent = std::move(flow->sent);
    sent();
    free_.push_back(flow);  // only now: another message must not take this one's comm
  } catch (...) {
    fail();
  }
}

/// One timer is enough, that of the first date: when it rings, the next is set.
void SimulatedFlows::wake_at(Seconds when) {
  if (alarm_ && *alarm_ <= when) return;
  alarm_ = when;
  simgrid::kernel::timer::Timer::set(when.count(), [this, when]() noexcept { wake(when); });
}

void SimulatedFlows::wake(Seconds when) {
  if (stopped_ || alarm_ != when) return;  // an earlier one has taken its place
  alarm_.reset();
  try {
    events_.advance_to(when);
    if (!events_.empty()) wake_at(events_.next());
  } catch (...) {
    fail();
  }
}

void SimulatedFlows::fail() {
  failure_ = std::current_exception();
  stop();
}

void SimulatedFlows::run() {
  engine_.run();
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace gradcast
