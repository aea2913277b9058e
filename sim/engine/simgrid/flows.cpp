#include "sim/engine/simgrid/flows.hpp"

#include <algorithm>
#include <limits>
#include <simgrid/kernel/Timer.hpp>

#include "sim/engine/simgrid/compat.hpp"

namespace sg4 = simgrid::s4u;

namespace gradcast {

SimulatedFlows::SimulatedFlows(const sg4::Engine& engine, std::vector<sg4::Host*> hosts,
                               EventQueue& events)
    : engine_(engine), hosts_(std::move(hosts)), events_(events) {
  events_.on_earlier = [this](Seconds when) { wake_at(when); };
  // noexcept: an exception that passes through SimGrid is undefined behaviour in 3.32
  simgrid_compat::on_message_completion(
      [this](const sg4::Comm& comm) noexcept { completed(comm); });
}

void SimulatedFlows::send(int from, int to, Bytes bytes, EventQueue::Action sent) {
  send_at_most({}, from, to, bytes, std::move(sent));
}

void SimulatedFlows::send_at_most(BytesPerSecond most, int from, int to, Bytes bytes,
                                  EventQueue::Action sent) {
  if (free_.empty()) free_.push_back(&flows_.emplace_back());
  Flow* flow = free_.back();
  free_.pop_back();
  flow->sent = std::move(sent);
  flow->comm = sg4::Comm::sendto_init();
  flow->comm->set_payload_size(static_cast<std::uint64_t>(bytes.count));
  flow->comm->set_data(flow);  // before set_destination, which starts it
  flow->comm->set_source(hosts_[static_cast<std::size_t>(from)]);
  for (const auto& [link, width] : changing_) link->set_bandwidth(width.widest);
  sg4::Link* first = most.value > 0 ? way(from, to).front() : nullptr;
  const double of_first = first != nullptr ? first->get_bandwidth() : 0;
  if (first != nullptr) first->set_bandwidth(std::min(most.value, of_first));
  flow->comm->set_destination(hosts_[static_cast<std::size_t>(to)]);
  if (first != nullptr) first->set_bandwidth(of_first);
  for (const auto& [link, width] : changing_) link->set_bandwidth(width.bandwidth);
}

void SimulatedFlows::set_bandwidth(sg4::Link* link, double bandwidth, double widest) {
  changing_[link] = {bandwidth, widest};
  link->set_bandwidth(bandwidth);
}

std::vector<sg4::Link*> SimulatedFlows::way(int from, int to) const {
  std::vector<sg4::Link*> links;
  double latency = 0;
  hosts_[static_cast<std::size_t>(from)]->route_to(hosts_[static_cast<std::size_t>(to)], links,
                                                   &latency);
  return links;
}

BytesPerSecond SimulatedFlows::narrowest(int from, int to) const {
  double least = std::numeric_limits<double>::infinity();
  for (const sg4::Link* link : way(from, to)) least = std::min(least, link->get_bandwidth());
  return {least};
}

void SimulatedFlows::completed(const sg4::Comm& comm) {
  if (stopped_) return;
  try {
    auto* flow = comm.get_data<Flow>();
    events_.advance_to(Seconds{sg4::Engine::get_clock()});
    const EventQueue::Action sent = std::move(flow->sent);
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
