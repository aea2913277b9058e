// A round is a linear map in the max-plus algebra: the time at which a rank begins the next round
// is a maximum of sums of the times at which ranks began this one and fixed weights. Three facts
// follow. They make thousands of rounds of thousands of ranks cheap:
//  - where nodes are alike and the phase says that it looks the same from all of them, ranks of
//    equal local index begin every round together, and one node is enough;
//  - once some rounds have added the same time to all ranks, as many more add it again;
//  - in lockstep all begin together, and one round tells all.
#include "sim/network/collective_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace gradcast {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// The work of one round for each class of ranks that begin it together. Each channel of a rank is
/// in a class of its own.
struct Round {
  struct Arrival {
    std::size_t from;  // class of the sender
    double leaving;    // since the message was begun, until it has left the sender
    double seconds;    // the same, until it has arrived
  };
  std::vector<double> sending;             // by class, until its last message has left
  std::vector<double> adding;              // by class, time to add up what it received
  std::vector<std::size_t> first_arrival;  // by class, then the number of arrivals
  std::vector<Arrival> arrivals;
  bool one_each = true;     // every class has one arrival
  bool rendezvous = false;  // a message is begun once both its ends have begun the round
  double busiest = 0;       // how long the most loaded link is busy

  std::size_t classes() const { return sending.size(); }
};

/// The times that the messages of a round take on their links.
class LinkLoads {
 public:
  explicit LinkLoads(const Topology& topology)
      : topology_(topology), bytes_(topology.links.size()) {}

  struct Passed {
    std::size_t first_link;
    std::size_t last_link;
    double latency;
    bool same_node;
  };

  /// Adds the message to its links.
  Passed add(int from, int to, Bytes bytes) {
    const std::size_t first = links_.size();
    const Seconds latency = topology_.route(from, to, links_);
    for (std::size_t i = first; i < links_.size(); ++i)
      bytes_[links_[i]] += static_cast<double>(bytes.count);
    const bool same_node = topology_.node_of[index(from)] == topology_.node_of[index(to)];
    return {first, links_.size(), latency.count(), same_node};
  }

  /// The time of the most loaded of these links, after all messages have been added. On links that
  /// are not shared a message has its own bytes only.
  double busy(const Passed& passed, double own_bytes) const {
    double most = 0;
    for (std::size_t i = passed.first_link; i < passed.last_link; ++i) {
      const TopologyLink& link = topology_.links[links_[i]];
      most = std::max(most, (link.shared ? bytes_[links_[i]] : own_bytes) / link.bandwidth.value);
    }
    return most;
  }

 private:
  const Topology& topology_;
  std::vector<double> bytes_;         // by link
  std::vector<std::uint32_t> links_;  // of all messages
};

struct Flow {
  std::size_t from;  // classes
  std::size_t to;
  double bytes;
  LinkLoads::Passed passed;
  LinkLoads::Passed mirrored;
};

/// The times from node 0's messages only, for a rotational phase on nodes that are alike. Every
/// link belongs to a node. Messages that leave node 0 load node 0's links fully. They also pass
/// links of the node to which they go. These carry the same load as the same links of node 0, from
/// messages that come to node 0. One of those is the same message rotated so that it ends there:
/// `mirrored`.
std::vector<Flow> flows_of_one_node(const Phase& phase, const Topology& topology,
                                    LinkLoads& loads) {
  struct Coming {
    int from, to, channel;
    double bytes;
    LinkLoads::Passed passed;
    auto ends() const { return std::tuple{channel, from, to}; }
  };
  const int g = topology.gpus_per_node;
  const int turning = phase.turning_ranks > 0 ? phase.turning_ranks : topology.ranks;
  std::vector<Message> leaving;
  std::vector<Coming> coming;
  for (const Message& message : phase.messages) {
    if (message.from < g) leaving.push_back(message);
    if (message.to < g)
      coming.push_back({message.from, message.to, message.channel,
                        static_cast<double>(message.bytes.count),
                        loads.add(message.from, message.to, message.bytes)});
  }
  std::sort(coming.begin(), coming.end(),
            [](const Coming& a, const Coming& b) { return a.ends() < b.ends(); });

  std::vector<Flow> flows;
  flows.reserve(leaving.size());
  for (const Message& message : leaving) {
    const int turn = message.to - message.to % g;
    const std::tuple ends{message.channel, (message.from - turn + turning) % turning,
                          message.to - turn};
    const auto mirrored =
        std::lower_bound(coming.begin(), coming.end(), ends,
                         [](const Coming& a, const auto& sought) { return a.ends() < sought; });
    if (mirrored == coming.end() || mirrored->ends() != ends)
      throw std::logic_error("a phase is said to be the same for all nodes and is not");
    const LinkLoads::Passed passed =
        turn == 0 ? mirrored->passed : loads.add(message.from, message.to, message.bytes);
    // Remainders of divisions may make one of them larger.
    const double bytes = std::max(mirrored->bytes, static_cast<double>(message.bytes.count));
    const std::size_t first = index(message.channel * g);
    flows.push_back({first + index(message.from), first + index(message.to % g), bytes, passed,
                     mirrored->passed});
  }
  return flows;
}

std::vector<Flow> flows_of_all(const Phase& phase, const Topology& topology, LinkLoads& loads) {
  std::vector<Flow> flows;
  flows.reserve(phase.messages.size());
  for (const Message& message : phase.messages) {
    const LinkLoads::Passed passed = loads.add(message.from, message.to, message.bytes);
    const std::size_t first = index(message.channel) * index(topology.ranks);
    flows.push_back({first + index(message.from), first + index(message.to),
                     static_cast<double>(message.bytes.count), passed, passed});
  }
  return flows;
}

Round round_of(const std::vector<Flow>& flows, std::size_t classes, const LinkLoads& loads,
               const CollectiveSoftware& software, int sharing, const Phase& phase) {
  const int channels = phase.channels;
  Round round;
  round.rendezvous = phase.rendezvous;
  round.sending.resize(classes);
  round.adding.resize(classes);
  round.first_arrival.resize(classes + 1);
  round.arrivals.resize(flows.size());
  for (const Flow& flow : flows) ++round.first_arrival[flow.to + 1];
  for (std::size_t i = 0; i < classes; ++i) {
    round.one_each = round.one_each && round.first_arrival[i + 1] == 1;
    round.first_arrival[i + 1] += round.first_arrival[i];
  }
  // By rank: in how many channels it receives.
  const std::size_t ranks = classes / index(channels);
  std::vector<int> receiving(ranks);
  for (std::size_t i = 0; i < classes; ++i)
    if (round.first_arrival[i + 1] > round.first_arrival[i]) ++receiving[i % ranks];

  std::vector<std::size_t> next = round.first_arrival;
  for (const Flow& flow : flows) {
    const double busy =
        std::max(loads.busy(flow.passed, flow.bytes), loads.busy(flow.mirrored, flow.bytes));
    const double leaving = sharing * busy;
    round.busiest = std::max(round.busiest, busy);
    round.sending[flow.from] = std::max(round.sending[flow.from], leaving);
    const Seconds latency =
        latency_of(Bytes{static_cast<std::int64_t>(flow.bytes)}, Seconds{flow.passed.latency},
                   software, phase.protocol, flow.passed.same_node);
    round.arrivals[next[flow.to]++] = {flow.from, leaving, leaving + latency.count()};
    if (software.reduction_bandwidth.value > 0)
      round.adding[flow.to] +=
          receiving[flow.to % ranks] * flow.bytes / software.reduction_bandwidth.value;
  }
  return round;
}

enum class Received { Kept, Added };

/// The times at which ranks begin something: rank r at begin_[r % begin_.size()].
class Clock {
 public:
  Clock() = default;
  /// Ranks begin before time 0, by these leads.
  explicit Clock(const std::vector<double>& lead) {
    if (!lead.empty()) begin_ = lead;
    for (double& begin : begin_) begin = -begin;
  }

  double latest() const { return *std::max_element(begin_.begin(), begin_.end()); }

  std::vector<double> lead() const {
    std::vector<double> lead = begin_;
    for (const double last = latest(); double& each : lead) each = last - each;
    return lead;
  }

  /// True if ranks that are `classes` apart begin together. Then only `classes` ranks are
  /// distinguished.
  bool fold_to(std::size_t classes) {
    for (std::size_t i = classes; i < begin_.size(); ++i)
      if (begin_[i] != begin_[i % classes]) return false;
    begin_.resize(std::min(classes, begin_.size()));
    return true;
  }

  /// Ranks go on when all their channels are through.
  void join_channels(std::size_t ranks) {
    for (std::size_t i = ranks; i < begin_.size(); ++i)
      begin_[i % ranks] = std::max(begin_[i % ranks], begin_[i]);
    begin_.resize(std::min(ranks, begin_.size()));
  }

  void pass_in_lockstep(const Round& round, int rounds, Received received) {
    if (rounds == 0) return;
    const double before = latest();
    begin_.assign(round.classes(), 0);
    take_one(round, received);
    const double until_last = before + (rounds - 1) * latest();
    for (double& begin : begin_) begin += until_last;
  }

  void pass(const Round& round, int rounds, Received received) {
    spread(round.classes());
    std::vector<double> reference = begin_;
    int reference_round = 0;
    for (int done = 0; done < rounds;) {
      take_one(round, received);
      ++done;
      // References are taken at powers of two, so that any period is found within a few of its
      // lengths. A comparison ends at the first difference, so it costs little if there is no
      // period.
      if (const double added = added_to_all(reference); added >= 0) {
        const int period = done - reference_round;
        const int times = (rounds - done) / period;
        for (double& begin : begin_) begin += times * added;
        for (done += times * period; done < rounds; ++done) take_one(round, received);
      } else if (done >= 2 * reference_round) {
        reference = begin_;
        reference_round = done;
      }
    }
  }

 private:
  void spread(std::size_t classes) {
    const std::size_t known = begin_.size();
    begin_.resize(classes);
    for (std::size_t i = known; i < classes; ++i) begin_[i] = begin_[i % known];
  }

  void take_one(const Round& round, Received received) {
    next_.resize(begin_.size());
    if (round.rendezvous) {
      take_one_by_rendezvous(round, received);
      return;
    }
    if (received == Received::Kept && round.one_each) {  // the same in fewer steps: rings
      for (std::size_t i = 0; i < begin_.size(); ++i) {
        const Round::Arrival& arrival = round.arrivals[i];
        next_[i] = std::max(begin_[i] + round.sending[i], begin_[arrival.from] + arrival.seconds);
      }
      begin_.swap(next_);
      return;
    }
    for (std::size_t i = 0; i < begin_.size(); ++i) {
      double all_here = begin_[i];
      for (std::size_t a = round.first_arrival[i]; a < round.first_arrival[i + 1]; ++a)
        all_here = std::max(all_here, begin_[round.arrivals[a].from] + round.arrivals[a].seconds);
      if (received == Received::Added) all_here += round.adding[i];
      next_[i] = std::max(all_here, begin_[i] + round.sending[i]);
    }
    begin_.swap(next_);
  }

  void take_one_by_rendezvous(const Round& round, Received received) {
    next_ = begin_;
    for (std::size_t i = 0; i < begin_.size(); ++i)
      for (std::size_t a = round.first_arrival[i]; a < round.first_arrival[i + 1]; ++a) {
        const Round::Arrival& arrival = round.arrivals[a];
        const double met = std::max(begin_[i], begin_[arrival.from]);
        next_[arrival.from] = std::max(next_[arrival.from], met + arrival.leaving);
        const double added = received == Received::Added ? round.adding[i] : 0;
        next_[i] = std::max(next_[i], met + arrival.seconds + added);
      }
    begin_.swap(next_);
  }

  /// Negative if it is not the same for all, up to rounding.
  double added_to_all(const std::vector<double>& reference) const {
    const double added = begin_[0] - reference[0];
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::abs(begin_[0]);
    for (std::size_t i = 1; i < begin_.size(); ++i)
      if (std::abs(begin_[i] - reference[i] - added) > rounding) return -1;
    return added;
  }

  std::vector<double> begin_ = std::vector<double>(1, 0.0);
  std::vector<double> next_{};
};

/// Returns how long its most loaded link is busy in all rounds, shared with nobody.
double pass_phase(Clock& clock, const Phase& phase, const Topology& topology,
                  const CollectiveSoftware& software, int sharing) {
  LinkLoads loads(topology);
  const bool one_node_tells =
      phase.rotational && topology.nodes_alike && clock.fold_to(index(topology.gpus_per_node));
  const std::size_t ranks = index(one_node_tells ? topology.gpus_per_node : topology.ranks);
  const Round round = round_of(one_node_tells ? flows_of_one_node(phase, topology, loads)
                                              : flows_of_all(phase, topology, loads),
                               ranks * index(phase.channels), loads, software, sharing, phase);
  const bool adding_takes_time = software.reduction_bandwidth.value > 0;
  const int added = adding_takes_time ? std::min(phase.reducing_rounds, phase.rounds) : 0;
  if (phase.lockstep) {
    clock.pass_in_lockstep(round, added, Received::Added);
    clock.pass_in_lockstep(round, phase.rounds - added, Received::Kept);
  } else {
    clock.pass(round, added, Received::Added);
    clock.pass(round, phase.rounds - added, Received::Kept);
  }
  clock.join_channels(ranks);
  return phase.rounds * round.busiest;
}

}  // namespace

CollectiveSoftware software_of(const Cluster& cluster) {
  return {cluster.per_collective_latency, cluster.reduction_bandwidth, cluster.eager_limit,
          cluster.latency_factor * cluster.per_message_latency};
}

Seconds latency_of(Bytes bytes, Seconds one_way, const CollectiveSoftware& software,
                   const Protocol& protocol, bool same_node) {
  // A stretched message has more or fewer bytes than are sent, rounded to whole ones.
  const double sent = (static_cast<double>(bytes.count) + .5) / protocol.stretch;
  const bool asks_first = !same_node && software.eager_limit.count > 0 &&
                          sent >= static_cast<double>(software.eager_limit.count);
  const Seconds asking = asks_first ? 2 * (one_way - software.per_message) : Seconds{0};
  const Seconds step = same_node ? protocol.inside : protocol.between;
  return protocol.stretch * std::max(Seconds{0}, one_way + asking + step);
}

Seconds begin_of(const std::vector<Phase>& phases, const CollectiveSoftware& software) {
  if (phases.empty()) return software.per_collective;
  const Protocol& protocol = phases.front().protocol;
  return protocol.stretch * std::max(software.per_collective, protocol.begin);
}

RankLayout layout_of(const Cluster& cluster) {
  RankLayout layout;
  for (int node = 0; node <= cluster.nodes; ++node)
    layout.first_rank.push_back(cluster.first_rank(node));
  return layout;
}

Seconds collective_time(const std::vector<Phase>& phases, const Topology& topology,
                        const CollectiveSoftware& software, int sharing) {
  return collective_course(phases, topology, software, sharing).total;
}

CollectiveCourse collective_course(const std::vector<Phase>& phases, const Topology& topology,
                                   const CollectiveSoftware& software, int sharing,
                                   const std::vector<double>& lead_seconds) {
  Clock clock(lead_seconds);
  CollectiveCourse course;
  for (const Phase& phase : phases)
    course.flowing.emplace_back(pass_phase(clock, phase, topology, software, sharing));
  course.total = begin_of(phases, software) + Seconds{clock.latest()};
  course.lead_seconds = clock.lead();
  return course;
}

}  // namespace gradcast
