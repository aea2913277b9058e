#include "sim/engine/playback/exact_transport.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace gradcast {

using Index = std::uint32_t;

/// Lists of numbers, one for each channel of each rank, in one piece of memory.
struct NumberLists {
  std::vector<Index> begins;  // of each list, then the end of the last
  std::vector<Index> items;

  std::span<const Index> of(std::size_t list) const {
    return {items.data() + begins[list], items.data() + begins[list + 1]};
  }
};

namespace {

/// Messages of each channel of each rank, by one of their ends. The second channels of all ranks
/// follow the first.
NumberLists by_end(const Phase& phase, int Message::*end, std::size_t ranks) {
  const std::vector<Message>& messages = phase.messages;
  const std::size_t strands = ranks * static_cast<std::size_t>(phase.channels);
  const auto list = [&](const Message& message) {
    return static_cast<std::size_t>(message.channel) * ranks +
           static_cast<std::size_t>(message.*end);
  };
  NumberLists lists{std::vector<Index>(strands + 1, 0), std::vector<Index>(messages.size())};
  for (const Message& message : messages) ++lists.begins[list(message) + 1];
  for (std::size_t i = 0; i < strands; ++i) lists.begins[i + 1] += lists.begins[i];
  std::vector<Index> next(lists.begins.begin(), lists.begins.end() - 1);
  for (std::size_t i = 0; i < messages.size(); ++i)
    lists.items[next[list(messages[i])]++] = static_cast<Index>(i);
  return lists;
}

}  // namespace

/// One collective under way.
class ExactTransport::Exchange {
 public:
  Exchange(ExactTransport& transport, Job& job, std::size_t step)
      : transport_(transport), job_(job), step_(step) {
    const PlanStep& planned = job.plan().steps[step];
    const bool folded = transport.one_node_ != nullptr;
    if (folded)
      phases_ = *transport.one_node_->of(step);
    else
      phases_ = phases_in(planned.groups, *planned.collective, transport.layout_, planned.load);
    const auto ranks = job.classes();
    ranks_.resize(ranks);
    groups_ = groups_among(transport.layout_.ranks(), planned.groups);
    waiting_.resize(static_cast<std::size_t>(transport.layout_.ranks() / groups_.length));
    std::vector<std::uint32_t> links;
    int channels = 1;
    for (Phase& phase : phases_) {
      channels = std::max(channels, phase.channels);
      if (folded)  // what comes in from the last node leaves the first as well
        std::erase_if(phase.messages, [ranks](const Message& message) {
          return static_cast<std::size_t>(message.from) >= ranks;
        });
      Edges edges;
      edges.arrived.resize(phase.messages.size());
      edges.held.resize(phase.messages.size());
      edges.latency.reserve(phase.messages.size());
      edges.ways.reserve(phase.messages.size());
      for (Message& message : phase.messages) {
        links.clear();
        edges.latency.push_back(transport.topology_.route(message.from, message.to, links));
        edges.same_node.push_back(node_of(message.from) == node_of(message.to));
        edges.ways.push_back(transport.network_.way(message.from, message.to));
        if (folded) message.to %= static_cast<int>(ranks);
      }
      edges.sends = by_end(phase, &Message::from, ranks);
      edges.receives = by_end(phase, &Message::to, ranks);
      edges_.push_back(std::move(edges));
    }
    strands_.resize(ranks * static_cast<std::size_t>(channels));
  }

  void enter(std::size_t rank) {
    const Seconds base = begin_of(phases_, transport_.software_);
    if (base > Seconds{0})
      transport_.events_.in(base, [this, rank = static_cast<Index>(rank)] { come_to_phase(rank); });
    else
      come_to_phase(rank);
  }

 private:
  /// A phase's messages as the channels of the ranks see them.
  struct Edges {
    NumberLists sends;
    NumberLists receives;
    std::vector<Seconds> latency;
    std::vector<bool> same_node;
    std::vector<FlowNetwork::Way> ways;
    std::vector<int> arrived;  // rounds of each message that have come
    std::vector<bool> held;    // until the receiver has come to the round
  };
  struct Place {
    Index phase = 0;
    int channels_left = 0;  // that are not through with the phase
  };
  /// A strand is one channel of a rank.
  struct Strand {
    int round = 0;
    bool in_round = false;
    int to_send = 0;
    int to_receive = 0;
    bool to_add = false;  // what it receives in this round
  };

  int node_of(int rank) const {
    return transport_.topology_.node_of[static_cast<std::size_t>(rank)];
  }
  std::size_t rank_of(std::size_t strand) const { return strand % ranks_.size(); }
  Place& place_of(std::size_t strand) { return ranks_[rank_of(strand)]; }
  std::size_t strand_of(int rank, int channel) const {
    return static_cast<std::size_t>(channel) * ranks_.size() + static_cast<std::size_t>(rank);
  }

  void come_to_phase(std::size_t rank) {
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
    const Index phase = place.phase;
    const int channels = phases_[phase].channels;
    std::vector<std::size_t> strands{rank};
    for (int channel = 1; channel < channels; ++channel)
      if (const std::size_t strand = strand_of(static_cast<int>(rank), channel);
          phases_[phase].lockstep || is_used(phase, strand))
        strands.push_back(strand);
    place.channels_left = static_cast<int>(strands.size());
    for (const std::size_t strand : strands) come_to_round(strand);
  }

  bool is_used(Index phase, std::size_t strand) const {
    return !edges_[phase].sends.of(strand).empty() || !edges_[phase].receives.of(strand).empty();
  }

  void come_to_round(std::size_t strand) {
    const Phase& phase = phases_[place_of(strand).phase];
    if (!phase.lockstep) {
      begin_round(strand);
      return;
    }
    const int group = groups_.group_of(static_cast<int>(rank_of(strand)));
    int& waiting = waiting_[static_cast<std::size_t>(group)];
    if (++waiting < groups_.length * phase.channels) return;
    waiting = 0;
    const int channels = phase.channels;
    for (int channel = 0; channel < channels; ++channel)
      for (int member = 0; member < groups_.length; ++member)
        begin_round(strand_of(groups_.rank_of(group, member), channel));
  }

  void begin_round(std::size_t number) {
    Strand& strand = strands_[number];
    const Index phase_number = place_of(number).phase;
    const Phase& phase = phases_[phase_number];
    Edges& edges = edges_[phase_number];
    const auto sends = edges.sends.of(number);
    strand.in_round = true;
    strand.to_send = static_cast<int>(sends.size());
    strand.to_receive = 0;
    strand.to_add = false;
    for (const Index message : edges.receives.of(number))
      if (edges.arrived[message] <= strand.round) ++strand.to_receive;
    if (strand.round < phase.reducing_rounds && bytes_added(number).count > 0) {
      strand.to_add = true;
      add_if_received(number);
    }
    for (const Index message : sends) {
      edges.held[message] =
          phase.rendezvous && !receiver_is_in(phase_number, message, strand.round);
      if (!edges.held[message]) send(phase_number, message, strand.round);
    }
    if (phase.rendezvous) send_held(number);
    finish_round(number);  // where there was nothing to do
  }

  bool receiver_is_in(Index phase, Index message, int round) {
    const Message& what = phases_[phase].messages[message];
    const std::size_t to = strand_of(what.to, what.channel);
    return strands_[to].in_round && place_of(to).phase == phase && strands_[to].round == round;
  }

  /// Sends the messages that waited for this receiver. Their senders are in the same round, because
  /// a sender leaves its round only after its messages.
  void send_held(std::size_t receiver) {
    const Index phase = place_of(receiver).phase;
    Edges& edges = edges_[phase];
    for (const Index message : edges.receives.of(receiver)) {
      if (!edges.held[message]) continue;
      edges.held[message] = false;
      send(phase, message, strands_[receiver].round);
    }
  }

  void send(Index phase, Index message, int round) {
    const Bytes bytes = phases_[phase].bytes_of(message, round);
    if (bytes.count == 0) {  // takes its latency only
      transport_.events_.in(Seconds{0}, [this, phase, message] { sent(phase, message, Bytes{}); });
      return;
    }
    ++transport_.messages_;
    transport_.network_.send(edges_[phase].ways[message], bytes,
                             [this, phase, message, bytes] { sent(phase, message, bytes); });
  }

  void sent(Index phase, Index message, Bytes bytes) {
    const Edges& edges = edges_[phase];
    const Seconds latency = latency_of(bytes, edges.latency[message], transport_.software_,
                                       phases_[phase].protocol, edges.same_node[message]);
    if (latency > Seconds{0})
      transport_.events_.in(latency, [this, phase, message] { arrive(phase, message); });
    const Message& what = phases_[phase].messages[message];
    const std::size_t from = strand_of(what.from, what.channel);
    if (latency == Seconds{0}) arrive(phase, message);
    --strands_[from].to_send;
    finish_round(from);
  }

  void arrive(Index phase, Index message) {
    const int round = edges_[phase].arrived[message]++;
    const Message& what = phases_[phase].messages[message];
    const std::size_t to = strand_of(what.to, what.channel);
    Strand& strand = strands_[to];
    if (!strand.in_round || place_of(to).phase != phase || strand.round != round) return;  // early
    --strand.to_receive;
    if (strand.to_add) add_if_received(to);
    finish_round(to);
  }

  /// Bytes that a channel adds up in its round, times the channels that share what adds. 0 if
  /// adding costs nothing.
  Bytes bytes_added(std::size_t strand) {
    const Phase& phase = phases_[place_of(strand).phase];
    Bytes added{};
    if (transport_.software_.reduction_bandwidth.value == 0) return added;
    const Edges& edges = edges_[place_of(strand).phase];
    for (const Index message : edges.receives.of(strand))
      added = added + phase.bytes_of(message, strands_[strand].round);
    int receiving = 0;  // channels, which share what adds
    for (int channel = 0; channel < phase.channels; ++channel)
      if (!edges.receives.of(strand_of(static_cast<int>(rank_of(strand)), channel)).empty())
        ++receiving;
    return added * receiving;
  }

  /// Sending may continue during this time.
  void add_if_received(std::size_t strand) {
    if (strands_[strand].to_receive > 0) return;
    transport_.events_.in(bytes_added(strand) / transport_.software_.reduction_bandwidth,
                          [this, strand = static_cast<Index>(strand)] {
                            strands_[strand].to_add = false;
                            finish_round(strand);
                          });
  }

  void finish_round(std::size_t number) {
    Strand& strand = strands_[number];
    if (!strand.in_round || strand.to_send > 0 || strand.to_receive > 0 || strand.to_add) return;
    strand.in_round = false;
    Place& place = place_of(number);
    if (++strand.round < phases_[place.phase].rounds) {
      come_to_round(number);
      return;
    }
    strand.round = 0;
    if (--place.channels_left > 0) return;
    ++place.phase;
    come_to_phase(rank_of(number));
  }

  ExactTransport& transport_;
  Job& job_;
  std::size_t step_;
  std::vector<Phase> phases_;
  std::vector<Edges> edges_;
  std::vector<Place> ranks_;
  std::vector<Strand> strands_;
  RankGroups groups_;
  std::vector<int> waiting_;  // by group: strands at the barrier of a lockstep round
  std::size_t left_ = 0;
};

ExactTransport::ExactTransport(const Topology& topology, RankLayout layout,
                               CollectiveSoftware software, const PlannedPhases* one_node,
                               FlowNetwork& network, EventQueue& events)
    : topology_(topology),
      layout_(std::move(layout)),
      software_(software),
      one_node_(one_node),
      network_(network),
      events_(events) {}

ExactTransport::~ExactTransport() = default;

void ExactTransport::enter(Job& job, std::size_t step, std::size_t rank) {
  auto& exchange = exchanges_[{&job, step}];
  if (!exchange) exchange = std::make_unique<Exchange>(*this, job, step);
  exchange->enter(rank);
}

}  // namespace gradcast
