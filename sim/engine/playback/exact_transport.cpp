#include "sim/engine/playback/exact_transport.hpp"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace gradcast {

using Index = std::uint32_t;

/// Lists of numbers, one list per rank, in one piece of memory.
struct ListsByRank {
  std::vector<Index> begins;  // of each list, then the end of the last
  std::vector<Index> items;

  std::span<const Index> of(std::size_t rank) const {
    return {items.data() + begins[rank], items.data() + begins[rank + 1]};
  }
};

namespace {

/// Messages of each rank, by one of their ends.
ListsByRank by_end(const std::vector<Message>& messages, int Message::*end, std::size_t ranks) {
  ListsByRank lists{std::vector<Index>(ranks + 1, 0), std::vector<Index>(messages.size())};
  for (const Message& message : messages)
    ++lists.begins[static_cast<std::size_t>(message.*end) + 1];
  for (std::size_t rank = 0; rank < ranks; ++rank) lists.begins[rank + 1] += lists.begins[rank];
  std::vector<Index> next(lists.begins.begin(), lists.begins.end() - 1);
  for (std::size_t i = 0; i < messages.size(); ++i)
    lists.items[next[static_cast<std::size_t>(messages[i].*end)]++] = static_cast<Index>(i);
  return lists;
}

}  // namespace

/// One collective under way.
class ExactTransport::Exchange {
 public:
  Exchange(ExactTransport& transport, Job& job, std::size_t step)
      : transport_(transport), job_(job), step_(step) {
    const PlanStep& planned = job.plan().steps[step];
    phases_ = phases_in(planned.groups, *planned.collective, transport.layout_, planned.load);
    const auto ranks = static_cast<std::size_t>(transport.layout_.ranks());
    ranks_.resize(ranks);
    groups_ = groups_among(transport.layout_.ranks(), planned.groups);
    waiting_.resize(ranks / static_cast<std::size_t>(groups_.length));
    std::vector<std::uint32_t> links;
    for (const Phase& phase : phases_) {
      Edges edges{by_end(phase.messages, &Message::from, ranks),
                  by_end(phase.messages, &Message::to, ranks),
                  {},
                  std::vector<int>(phase.messages.size(), 0)};
      edges.latency.reserve(phase.messages.size());
      for (const Message& message : phase.messages) {
        links.clear();
        edges.latency.push_back(transport.topology_.route(message.from, message.to, links));
      }
      edges_.push_back(std::move(edges));
    }
  }

  void enter(std::size_t rank) {
    const Seconds base = transport_.software_.per_collective;
    if (base > Seconds{0})
      transport_.events_.in(base, [this, rank = static_cast<Index>(rank)] { come_to_round(rank); });
    else
      come_to_round(rank);
  }

 private:
  /// A phase's messages as the ranks see them.
  struct Edges {
    ListsByRank sends;
    ListsByRank receives;
    std::vector<Seconds> latency;
    std::vector<int> arrived;  // rounds of each message that have come
  };
  struct Place {
    Index phase = 0;
    int round = 0;
    bool in_round = false;
    int to_send = 0;
    int to_receive = 0;
    bool to_add = false;  // what it receives in this round
  };

  void come_to_round(std::size_t rank) {
    Place& place = ranks_[rank];
    if (place.phase == phases_.size()) {
      // Not at once: it is still on the stack.
      if (++left_ == ranks_.size())
        transport_.events_.in(Seconds{0}, [transport = &transport_, job = &job_, step = step_] {
          transport->exchanges_.erase({job, step});
        });
      job_.leave(step_, rank);
      return;
    }
    if (!phases_[place.phase].lockstep) {
      begin_round(rank);
      return;
    }
    const int group = groups_.group_of(static_cast<int>(rank));
    int& waiting = waiting_[static_cast<std::size_t>(group)];
    if (++waiting < groups_.length) return;
    waiting = 0;
    for (int member = 0; member < groups_.length; ++member)
      begin_round(static_cast<std::size_t>(groups_.rank_of(group, member)));
  }

  void begin_round(std::size_t rank) {
    Place& place = ranks_[rank];
    const Phase& phase = phases_[place.phase];
    const Edges& edges = edges_[place.phase];
    const auto sends = edges.sends.of(rank);
    place.in_round = true;
    place.to_send = static_cast<int>(sends.size());
    place.to_receive = 0;
    place.to_add = false;
    for (const Index message : edges.receives.of(rank))
      if (edges.arrived[message] <= place.round) ++place.to_receive;
    if (place.round < phase.reducing_rounds && bytes_added(rank).count > 0) {
      place.to_add = true;
      add_if_received(rank);
    }
    const Index phase_number = place.phase;
    for (const Index message : sends) send(phase_number, message, place.round);
    finish_round(rank);  // where there was nothing to do
  }

  void send(Index phase, Index message, int round) {
    const Message& what = phases_[phase].messages[message];
    const Bytes bytes = phases_[phase].bytes_of(message, round);
    if (bytes.count == 0) {  // takes its latency only
      transport_.events_.in(Seconds{0}, [this, phase, message] { sent(phase, message, Bytes{}); });
      return;
    }
    ++transport_.messages_;
    transport_.network_.send(what.from, what.to, bytes,
                             [this, phase, message, bytes] { sent(phase, message, bytes); });
  }

  void sent(Index phase, Index message, Bytes bytes) {
    const Seconds latency = latency_of(bytes, edges_[phase].latency[message], transport_.software_);
    if (latency > Seconds{0})
      transport_.events_.in(latency, [this, phase, message] { arrive(phase, message); });
    const auto from = static_cast<std::size_t>(phases_[phase].messages[message].from);
    if (latency == Seconds{0}) arrive(phase, message);
    --ranks_[from].to_send;
    finish_round(from);
  }

  void arrive(Index phase, Index message) {
    const int round = edges_[phase].arrived[message]++;
    const auto to = static_cast<std::size_t>(phases_[phase].messages[message].to);
    Place& place = ranks_[to];
    if (!place.in_round || place.phase != phase || place.round != round) return;  // it is early
    --place.to_receive;
    if (place.to_add) add_if_received(to);
    finish_round(to);
  }

  /// The time to add up all that a rank receives in its round; 0 if adding costs nothing.
  Bytes bytes_added(std::size_t rank) const {
    const Place& place = ranks_[rank];
    Bytes added{};
    if (transport_.software_.reduction_bandwidth.value == 0) return added;
    for (const Index message : edges_[place.phase].receives.of(rank))
      added = added + phases_[place.phase].bytes_of(message, place.round);
    return added;
  }

  /// Sending may continue during this time.
  void add_if_received(std::size_t rank) {
    if (ranks_[rank].to_receive > 0) return;
    transport_.events_.in(bytes_added(rank) / transport_.software_.reduction_bandwidth,
                          [this, rank = static_cast<Index>(rank)] {
                            ranks_[rank].to_add = false;
                            finish_round(rank);
                          });
  }

  void finish_round(std::size_t rank) {
    Place& place = ranks_[rank];
    if (!place.in_round || place.to_send > 0 || place.to_receive > 0 || place.to_add) return;
    place.in_round = false;
    if (++place.round == phases_[place.phase].rounds) {
      place.round = 0;
      ++place.phase;
    }
    come_to_round(rank);
  }

  ExactTransport& transport_;
  Job& job_;
  std::size_t step_;
  std::vector<Phase> phases_;
  std::vector<Edges> edges_;
  std::vector<Place> ranks_;
  RankGroups groups_;
  std::vector<int> waiting_;  // by group: at the barrier of a lockstep round
  std::size_t left_ = 0;
};

ExactTransport::ExactTransport(const Topology& topology, RankLayout layout,
                               CollectiveSoftware software, FlowNetwork& network,
                               EventQueue& events)
    : topology_(topology),
      layout_(std::move(layout)),
      software_(software),
      network_(network),
      events_(events) {}

ExactTransport::~ExactTransport() = default;

void ExactTransport::enter(Job& job, std::size_t step, std::size_t rank) {
  auto& exchange = exchanges_[{&job, step}];
  if (!exchange) exchange = std::make_unique<Exchange>(*this, job, step);
  exchange->enter(rank);
}

}  // namespace gradcast
