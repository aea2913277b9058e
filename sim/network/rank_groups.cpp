#include "sim/network/rank_groups.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// Messages of parameter servers on 4096 ranks; they take 400 MB.
constexpr std::int64_t kMostMessagesOfPhase = std::int64_t{1} << 24;

std::string described(const RankGroups& groups) {
  return "groups of " + std::to_string(groups.length) + " ranks" +
         (groups.stride == 1 ? "" : ", " + std::to_string(groups.stride) + " apart");
}

/// "; groups 4 apart may have 1, 2, 4 or 8"
std::string lengths_that_fit(int ranks, int stride) {
  if (stride < 1 || ranks % stride != 0)
    return "; ranks of a group may be as far apart as a divisor of " + std::to_string(ranks);
  std::vector<std::string> fitting;
  for (int length = 1; length <= ranks / stride; ++length)
    if (ranks / stride % length == 0) fitting.push_back(std::to_string(length));
  return "; groups of ranks " + std::to_string(stride) + " apart may have " + join(fitting, ", ");
}

RankLayout layout_of_group(const RankGroups& groups, int group, const RankLayout& layout) {
  RankLayout own;
  for (int member = 0, last = -1; member < groups.length; ++member) {
    const int node = layout.node_of(groups.rank_of(group, member));
    if (node != last) own.first_rank.push_back(member);
    last = node;
  }
  own.first_rank.push_back(groups.length);
  return own;
}

CollectiveLoad load_of_group(const RankGroups& groups, int group, const CollectiveLoad& load) {
  if (load.contributions.empty()) return load;
  CollectiveLoad own = load;
  own.contributions.clear();
  for (int member = 0; member < groups.length; ++member)
    own.contributions.push_back(load.contribution(groups.rank_of(group, member)));
  own.payload = *std::max_element(own.contributions.begin(), own.contributions.end());
  return own;
}

/// True where nodes are equal and groups lie inside nodes, or in whole nodes at the same places of
/// each. All groups then stand alike on their nodes.
bool in_step_with_nodes(const RankGroups& groups, const RankLayout& layout) {
  if (!layout.even()) return false;
  const int gpus = layout.gpus_of(0);
  if (gpus % groups.block() == 0) return true;
  return groups.block() % gpus == 0 && (gpus % groups.stride == 0 || groups.stride % gpus == 0);
}

/// The phases of groups, once for each kind of group.
struct Kinds {
  std::vector<std::shared_ptr<const std::vector<Phase>>> phases;
  std::vector<std::size_t> of_group;  // empty: all are of the first kind

  std::size_t of(int group) const {
    return of_group.empty() ? 0 : of_group[static_cast<std::size_t>(group)];
  }
};

Kinds kinds_of(const RankGroups& groups, const Collective& collective, const RankLayout& layout,
               const CollectiveLoad& load) {
  Kinds kinds;
  const auto describe = [&](const RankLayout& own, const CollectiveLoad& its) {
    kinds.phases.push_back(std::make_shared<const std::vector<Phase>>(collective.phases(own, its)));
  };
  if (load.contributions.empty() && in_step_with_nodes(groups, layout)) {
    describe(layout_of_group(groups, 0, layout), load);
    return kinds;
  }
  std::map<std::pair<std::vector<int>, std::vector<Bytes>>, std::size_t> known;
  for (int group = 0; group < layout.ranks() / groups.length; ++group) {
    const RankLayout own = layout_of_group(groups, group, layout);
    const CollectiveLoad its = load_of_group(groups, group, load);
    const auto [at, is_new] =
        known.try_emplace({own.first_rank, its.contributions}, kinds.phases.size());
    if (is_new) describe(own, its);
    kinds.of_group.push_back(at->second);
  }
  return kinds;
}

void require_side_by_side(const Kinds& kinds, const Collective& collective,
                          const RankGroups& groups) {
  const std::vector<Phase>& first = *kinds.phases.front();
  const auto goes_with = [](const Phase& a, const Phase& b) {
    return a.rounds == b.rounds && a.reducing_rounds == b.reducing_rounds &&
           a.lockstep == b.lockstep && a.rendezvous == b.rendezvous &&
           a.follows_walk == b.follows_walk;
  };
  for (const auto& phases : kinds.phases)
    if (!std::equal(first.begin(), first.end(), phases->begin(), phases->end(), goes_with))
      throw ValueError(std::string(collective.name) + " in " + described(groups) +
                       " goes in other rounds in some groups than in others, because these stand "
                       "differently on their nodes; use a collective of one level, as "
                       "ring-all-reduce or ring-all-gather, or groups that fit the nodes");
}

/// More than any latency.
constexpr Seconds kAllLatency{1e9};

/// The phases as the protocol sends them.
std::vector<Phase> in_protocol(std::vector<Phase> phases, const Protocol& protocol,
                               const RankLayout& layout) {
  if (protocol.name.empty() && protocol.stretch == 1) return phases;
  const double inside = protocol.stretch * protocol.link_time_of(true);
  const double between = protocol.stretch * protocol.link_time_of(false);
  std::vector<int> node_of;
  for (int node = 0; node < layout.nodes(); ++node)
    node_of.insert(node_of.end(), static_cast<std::size_t>(layout.gpus_of(node)), node);
  const auto link_time = [&](const Message& message) {
    const auto node = [&](int rank) { return node_of[static_cast<std::size_t>(rank)]; };
    return node(message.from) == node(message.to) ? inside : between;
  };
  const auto sent = [](Bytes payload, double link_time) {
    return Bytes{std::llround(link_time * static_cast<double>(payload.count))};
  };
  for (Phase& phase : phases) {
    phase.protocol = protocol;
    phase.lockstep = phase.lockstep || protocol.in_lockstep;
    if (phase.follows_walk) phase.protocol.inside = phase.protocol.between = -kAllLatency;
    if (inside == 1 && between == 1) continue;
    std::vector<double> link_times;
    for (Message& message : phase.messages) {
      link_times.push_back(link_time(message));
      message.bytes = sent(message.bytes, link_times.back());
    }
    if (phase.size)
      phase.size = [sent, link_times = std::move(link_times), payload = std::move(phase.size)](
                       std::size_t message, int round) {
        return sent(payload(message, round), link_times[message]);
      };
    phase.sum.reset();
  }
  return phases;
}

/// One phase of all groups.
Phase side_by_side(const Kinds& kinds, std::size_t number, const RankGroups& groups, int count) {
  const auto phase_of = [&](std::size_t kind) -> const Phase& {
    return (*kinds.phases[kind])[number];
  };
  Phase all = phase_of(0);
  for (std::size_t kind = 0; kind < kinds.phases.size(); ++kind)
    all.channels = std::max(all.channels, phase_of(kind).channels);
  all.rotational = false;
  all.messages.clear();
  all.size = {};
  all.sum.reset();

  std::int64_t messages = 0;
  std::vector<std::size_t> first_message;  // of each group
  first_message.reserve(static_cast<std::size_t>(count));
  for (int group = 0; group < count; ++group) {
    first_message.push_back(static_cast<std::size_t>(messages));
    messages += static_cast<std::int64_t>(phase_of(kinds.of(group)).messages.size());
  }
  if (messages > kMostMessagesOfPhase)
    throw ValueError("all " + described(groups) + " have " + std::to_string(messages) +
                     " messages at once; the most is " + std::to_string(kMostMessagesOfPhase) +
                     ": use smaller groups, or a ring");
  all.messages.reserve(static_cast<std::size_t>(messages));
  for (int group = 0; group < count; ++group)
    for (Message message : phase_of(kinds.of(group)).messages) {
      message.from = groups.rank_of(group, message.from);
      message.to = groups.rank_of(group, message.to);
      all.messages.push_back(message);
    }

  bool varies = false;
  for (std::size_t kind = 0; kind < kinds.phases.size(); ++kind)
    varies = varies || phase_of(kind).size;
  if (!varies) return all;
  if (kinds.phases.size() == 1) {
    all.size = [all_of_it = kinds.phases.front(), number](std::size_t message, int round) {
      const Phase& own = (*all_of_it)[number];
      return own.size(message % own.messages.size(), round);
    };
  } else {
    all.size = [kinds, number, first = std::move(first_message)](std::size_t message, int round) {
      const auto after = std::upper_bound(first.begin(), first.end(), message);
      const auto group = static_cast<std::size_t>(after - first.begin()) - 1;
      return (*kinds.phases[kinds.of_group[group]])[number].bytes_of(message - first[group], round);
    };
  }
  std::vector<Bytes> sums;  // by kind
  for (std::size_t kind = 0; kind < kinds.phases.size(); ++kind)
    sums.push_back(bytes_in({phase_of(kind)}));
  Bytes sum{};
  for (int group = 0; group < count; ++group) sum = sum + sums[kinds.of(group)];
  all.sum = sum;
  return all;
}

}  // namespace

RankGroups groups_among(int ranks, const RankGroups& groups) {
  if (groups.all()) return {.stride = 1, .length = ranks};
  const std::int64_t block = std::int64_t{groups.stride} * groups.length;
  if (groups.stride >= 1 && groups.length >= 1 && ranks % block == 0) return groups;
  throw ValueError(described(groups) + " do not divide " + std::to_string(ranks) + " ranks" +
                   lengths_that_fit(ranks, groups.stride));
}

RankLayout layout_in(const RankGroups& groups, const RankLayout& layout) {
  if (groups.all()) return layout;
  return layout_of_group(groups_among(layout.ranks(), groups), 0, layout);
}

std::vector<Phase> phases_in(const RankGroups& asked, const Collective& collective,
                             const RankLayout& layout, const CollectiveLoad& load) {
  const RankGroups groups = groups_among(layout.ranks(), asked);
  if (groups.length == layout.ranks())
    return in_protocol(collective.phases(layout, load), load.protocol, layout);
  const Kinds kinds = kinds_of(groups, collective, layout, load);
  require_side_by_side(kinds, collective, groups);
  const int count = layout.ranks() / groups.length;

  const bool fits = load.contributions.empty() && in_step_with_nodes(groups, layout);
  const bool inside_nodes = fits && layout.gpus_of(0) % groups.block() == 0;
  std::vector<Phase> phases;
  for (std::size_t number = 0; number < kinds.phases.front()->size(); ++number) {
    phases.push_back(side_by_side(kinds, number, groups, count));
    // All nodes do the same if groups lie inside nodes. Groups across nodes turn alike if each
    // group sees it so: its own nodes turn as those of its block do.
    phases.back().rotational = inside_nodes || (fits && (*kinds.phases.front())[number].rotational);
    phases.back().turning_ranks = inside_nodes ? layout.gpus_of(0) : groups.block();
  }
  return in_protocol(std::move(phases), load.protocol, layout);
}

}  // namespace gradcast
