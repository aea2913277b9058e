#include "sim/engine/flow/max_min_flows.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/thread_pool.hpp"

namespace gradcast {
namespace {

/// Flows that would end within this time of each other end together, as in SimGrid. Arithmetic
/// alone may set their ends apart.
constexpr Seconds kSameDate{1e-12};

/// Links are equally narrow if only rounding sets them apart. Their flows then get the same rate to
/// the last bit, so that equal flows end together.
constexpr double kSameShare = 1 + 1e-12;

constexpr double kNoRate = -1;

std::vector<std::string> names_of(const Topology& topology) {
  std::vector<std::string> names;
  names.reserve(topology.links.size());
  for (const TopologyLink& link : topology.links) names.push_back(link.name);
  return names;
}

}  // namespace

MaxMinFlows::MaxMinFlows(const Topology& topology, EventQueue& events, bool observed)
    : topology_(topology), events_(events), links_(topology.links.size()) {
  for (std::size_t i = 0; i < links_.size(); ++i)
    links_[i].bandwidth = topology.links[i].bandwidth.value;
  if (observed) recorder_.emplace(names_of(topology));
}

FlowNetwork::Way MaxMinFlows::way(int from, int to) {
  const auto ranks =
      static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(static_cast<unsigned>(to));
  const auto [known, is_new] = known_ways_.try_emplace(ranks);
  if (is_new) known->second = add_way({}, from, to);
  return known->second;
}

/// The limit is a link that nothing else passes.
FlowNetwork::Way MaxMinFlows::way_at_most(BytesPerSecond most, int from, int to) {
  if (most.value == 0) return way(from, to);
  links_.emplace_back().bandwidth = most.value;
  return add_way(static_cast<LinkNumber>(links_.size() - 1), from, to);
}

FlowNetwork::Way MaxMinFlows::add_way(std::optional<LinkNumber> first, int from, int to) {
  if (first) passed_.push_back(*first);
  topology_.route(from, to, passed_);
  ways_.push_back(static_cast<std::uint32_t>(passed_.size()));
  return static_cast<Way>(ways_.size() - 2);
}

void MaxMinFlows::send(Way way, Bytes bytes, Action sent) {
  FlowNumber number = 0;
  if (free_.empty()) {
    number = static_cast<FlowNumber>(flows_.size());
    flows_.emplace_back();
    sent_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[number];
  flow.left = static_cast<double>(bytes.count);
  flow.rate = 0;
  flow.since = events_.now();
  flow.way = way;
  flow.ended = false;
  sent_[number] = std::move(sent);
  for (const LinkNumber link : links_of(way)) {
    links_[link].flows.push_back(number);
    note_change(link);
  }
}

void MaxMinFlows::set_bandwidth(std::size_t link, BytesPerSecond bandwidth, BytesPerSecond) {
  links_[link].bandwidth = bandwidth.value;
  note_change(static_cast<LinkNumber>(link));
}

BytesPerSecond MaxMinFlows::narrowest(Way way) const {
  double least = std::numeric_limits<double>::infinity();
  for (const LinkNumber link : links_of(way)) least = std::min(least, links_[link].bandwidth);
  return {least};
}

void MaxMinFlows::run() {
  for (std::uint64_t dates = 0; !stopped_; ++dates) {
    if (dates % 1024 == 0) leave_if_stopped();  // a few times a second at least
    find_rates();
    Seconds when = events_.now();
    const bool some_end = next_end(when);
    if (events_.empty() && !some_end) return;
    if (!events_.empty() && (!some_end || events_.next() < when)) when = events_.next();
    // All that happens at this date, and what follows from it at the same date.
    do {
      events_.advance_to(when);
    } while (!stopped_ && (end_flows() || (!events_.empty() && events_.next() <= when)));
  }
}

/// The date at which the next flow ends; false where none is on its way.
bool MaxMinFlows::next_end(Seconds& when) {
  while (!ends_.empty()) {
    when = ends_.next();
    const End& end = ends_.first();
    if (flows_[end.flow].turn == end.turn) return true;
    ends_.take();
  }
  return false;
}

/// Ends the flows that are due. Returns whether there were any.
bool MaxMinFlows::end_flows() {
  const Seconds due = events_.now() + kSameDate;
  for (Seconds when; next_end(when) && when <= due;) {
    const FlowNumber number = ends_.take().flow;
    flows_[number].ended = true;
    ending_.push_back(number);
    for (const LinkNumber link : links_of(flows_[number].way)) note_change(link);
  }
  const bool any = !ending_.empty();
  // What a call sends must not end here, even if it took no time.
  for (const FlowNumber number : ending_) {
    just_ended_.push_back(number);
    events_.advance_to(events_.now());  // what followed from the flow before
    if (stopped_) break;
    Action sent = std::move(sent_[number]);
    sent();
  }
  ending_.clear();
  return any;
}

void MaxMinFlows::note_change(LinkNumber link) {
  if (std::exchange(links_[link].changed, true)) return;
  changed_.push_back(link);
}

void MaxMinFlows::find_rates() {
  if (changed_.empty()) return;
  ++search_;
  for (const LinkNumber link : changed_) {
    if (links_[link].found == search_) continue;
    found_links_.clear();
    found_flows_.clear();
    collect(link);
    fill();
    take_next_rates();
    if (recorder_) record_loads();
  }
  for (const LinkNumber link : changed_) links_[link].changed = false;
  changed_.clear();
  free_.insert(free_.end(), just_ended_.begin(), just_ended_.end());
  just_ended_.clear();
}

/// Finds all flows on a link, all other links on which they are, and so on.
void MaxMinFlows::collect(LinkNumber first) {
  links_[first].found = search_;
  found_links_.push_back(first);
  for (std::size_t next = 0; next < found_links_.size(); ++next) {
    Link& link = links_[found_links_[next]];
    if (link.changed) std::erase_if(link.flows, [&](FlowNumber flow) { return flows_[flow].ended; });
    for (const FlowNumber number : link.flows) {
      Flow& flow = flows_[number];
      if (std::exchange(flow.found, search_) == search_) continue;
      flow.next_rate = kNoRate;
      found_flows_.push_back(number);
      for (const LinkNumber other : links_of(flow.way))
        if (std::exchange(links_[other].found, search_) != search_) found_links_.push_back(other);
    }
  }
}

/// Gives each flow that was found its next rate.
void MaxMinFlows::fill() {
  if (found_flows_.empty()) return;
  if (found_flows_.size() == 1) {  // it has its way to itself
    Flow& flow = flows_[found_flows_.front()];
    flow.next_rate = narrowest(flow.way).value;
    return;
  }
  const auto wider = [](const Share& a, const Share& b) {
    return a.bandwidth > b.bandwidth || (a.bandwidth == b.bandwidth && a.link > b.link);
  };
  const auto share_of = [this](LinkNumber number) {
    const Link& link = links_[number];
    return Share{link.left / static_cast<double>(link.open), number};
  };
  bottlenecks_.clear();
  for (const LinkNumber number : found_links_) {
    Link& link = links_[number];
    link.left = link.bandwidth;
    link.open = static_cast<std::uint32_t>(link.flows.size());
    if (link.open > 0) bottlenecks_.push_back(share_of(number));
  }
  std::make_heap(bottlenecks_.begin(), bottlenecks_.end(), wider);
  std::size_t without_rate = found_flows_.size();
  double rate = 0;
  while (without_rate > 0) {
    std::pop_heap(bottlenecks_.begin(), bottlenecks_.end(), wider);
    const Share then = bottlenecks_.back();
    Link& link = links_[then.link];
    if (link.open == 0) {
      bottlenecks_.pop_back();
      continue;
    }
    // Others that passed it got less than this share, so that by now the rest have more.
    const Share now = share_of(then.link);
    if (now.bandwidth > then.bandwidth * kSameShare) {
      bottlenecks_.back() = now;
      std::push_heap(bottlenecks_.begin(), bottlenecks_.end(), wider);
      continue;
    }
    bottlenecks_.pop_back();
    if (now.bandwidth > rate * kSameShare) rate = now.bandwidth;
    for (const FlowNumber flow : link.flows) {
      if (flows_[flow].next_rate != kNoRate) continue;
      give(flow, rate);
      --without_rate;
    }
  }
}

void MaxMinFlows::give(FlowNumber number, double rate) {
  Flow& flow = flows_[number];
  flow.next_rate = rate;
  for (const LinkNumber passed : links_of(flow.way)) {
    links_[passed].left -= rate;
    --links_[passed].open;
  }
}

/// The flows that were found go on at their next rates. Only those that end first are dated: when
/// they do, rates are found again for all others, because all are connected.
void MaxMinFlows::take_next_rates() {
  const Seconds now = events_.now();
  Seconds first{std::numeric_limits<double>::infinity()};
  for (const FlowNumber number : found_flows_) {
    Flow& flow = flows_[number];
    ++flow.turn;
    if (flow.next_rate != flow.rate) {
      flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.since).count());
      flow.since = now;
      flow.rate = flow.next_rate;
      flow.end = now + Seconds{flow.left / flow.rate};
    }
    first = std::min(first, flow.end);
  }
  for (const FlowNumber number : found_flows_) {
    const Flow& flow = flows_[number];
    if (flow.end <= first + kSameDate) ends_.add(flow.end, {number, flow.turn});
  }
}

void MaxMinFlows::record_loads() {
  for (const LinkNumber link : found_links_) {
    if (link >= topology_.links.size()) continue;  // the limit of some traffic
    double load = 0;
    for (const FlowNumber flow : links_[link].flows) load += flows_[flow].rate;
    recorder_->note(link, events_.now(), {load});
  }
}

}  // namespace gradcast
