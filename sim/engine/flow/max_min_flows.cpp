#include "sim/engine/flow/max_min_flows.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

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
  const auto ranks = static_cast<std::uint64_t>(from) << 32 |
                     static_cast<std::uint64_t>(static_cast<unsigned>(to));
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
    for (const LinkNumber link : links_of(flows_[number].way))
      if (links_[link].flows.size() == 1 && !recorder_)
        links_[link].flows.clear();  // it had the link to itself: nobody's rate changes
      else
        note_change(link);
  }
  const bool any = !ending_.empty();
  // The list is complete before the first call: a flow that a call begins must not end here.
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
  ++search_;
  for (const LinkNumber link : changed_) {
    if (links_[link].found == search_) continue;
    if (!recorder_ && (links_[link].flows.empty() || rated_alone(links_[link].flows.front())))
      continue;
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

/// Gives a flow its rate without a search if it shares no link with another, as most do not.
/// Returns false if it shares one.
bool MaxMinFlows::rated_alone(FlowNumber number) {
  Flow& flow = flows_[number];
  if (flow.found == search_) return true;  // by another link of its way
  double narrowest = std::numeric_limits<double>::infinity();
  for (const LinkNumber link : links_of(flow.way)) {
    if (links_[link].flows.size() > 1) return false;
    narrowest = std::min(narrowest, links_[link].bandwidth);
  }
  flow.found = search_;
  flow.next_rate = narrowest;
  take_next_rate(flow);
  ends_.add(flow.end, {number, flow.turn});
  return true;
}

/// Finds all flows on a link, all other shared links on which they are, and so on.
void MaxMinFlows::collect(LinkNumber first) {
  links_[first].found = search_;
  found_links_.push_back(first);
  for (std::size_t next = 0; next < found_links_.size(); ++next) {
    Link& link = links_[found_links_[next]];
    if (link.changed)
      std::erase_if(link.flows, [&](FlowNumber flow) { return flows_[flow].ended; });
    for (const FlowNumber number : link.flows) {
      Flow& flow = flows_[number];
      if (std::exchange(flow.found, search_) == search_) continue;
      flow.next_rate = kNoRate;
      found_flows_.push_back(number);
      double own = std::numeric_limits<double>::infinity();  // the narrowest of its own links
      double shared = own;                                   // and of those that it shares
      for (const LinkNumber passed : links_of(flow.way)) {
        Link& other = links_[passed];
        if (other.flows.size() == 1 && !recorder_) {
          own = std::min(own, other.bandwidth);
          continue;
        }
        shared = std::min(shared, other.bandwidth);
        if (std::exchange(other.found, search_) != search_) found_links_.push_back(passed);
      }
      if (own < shared) bottlenecks_.push_back({own, number, true});
    }
  }
}

/// Gives each flow that was found its next rate. A flow's own links limit it as a link with no
/// other flow on it does.
void MaxMinFlows::fill() {
  const auto wider = [](const Bottleneck& a, const Bottleneck& b) {
    return std::tie(a.share, a.number, a.is_flow) > std::tie(b.share, b.number, b.is_flow);
  };
  const auto share_of = [](const Link& link) { return link.left / static_cast<double>(link.open); };
  for (const LinkNumber number : found_links_) {
    Link& link = links_[number];
    link.left = link.bandwidth;
    link.open = static_cast<std::uint32_t>(link.flows.size());
    if (link.open > 0) bottlenecks_.push_back({share_of(link), number, false});
  }
  std::make_heap(bottlenecks_.begin(), bottlenecks_.end(), wider);
  std::size_t without_rate = found_flows_.size();
  double rate = 0;
  const auto give_next = [&](FlowNumber flow) {
    if (flows_[flow].next_rate != kNoRate) return;
    give(flow, rate);
    --without_rate;
  };
  while (without_rate > 0) {
    std::pop_heap(bottlenecks_.begin(), bottlenecks_.end(), wider);
    const Bottleneck next = bottlenecks_.back();
    bottlenecks_.pop_back();
    const Link* link = next.is_flow ? nullptr : &links_[next.number];
    if (link != nullptr) {
      if (link->open == 0) continue;
      // Others that passed it got less than this share, so that by now the rest have more.
      if (const double now = share_of(*link); now > next.share * kSameShare) {
        bottlenecks_.push_back({now, next.number, false});
        std::push_heap(bottlenecks_.begin(), bottlenecks_.end(), wider);
        continue;
      }
    }
    if (next.share > rate * kSameShare) rate = next.share;
    if (link == nullptr)
      give_next(next.number);
    else
      for (const FlowNumber flow : link->flows) give_next(flow);
  }
  bottlenecks_.clear();
}

void MaxMinFlows::give(FlowNumber number, double rate) {
  Flow& flow = flows_[number];
  flow.next_rate = rate;
  for (const LinkNumber passed : links_of(flow.way)) {
    links_[passed].left -= rate;
    --links_[passed].open;
  }
}

void MaxMinFlows::take_next_rate(Flow& flow) {
  ++flow.turn;
  if (flow.next_rate == flow.rate) return;
  const Seconds now = events_.now();
  flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.since).count());
  flow.since = now;
  flow.rate = flow.next_rate;
  flow.end = now + Seconds{flow.left / flow.rate};
}

/// The flows that were found go on at their next rates. Only those that end first are dated: when
/// they do, rates are found again for all others, because all are connected.
void MaxMinFlows::take_next_rates() {
  Seconds first{std::numeric_limits<double>::infinity()};
  for (const FlowNumber number : found_flows_) {
    take_next_rate(flows_[number]);
    first = std::min(first, flows_[number].end);
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
