#include "sim/inputs/world.hpp"

#include <array>
#include <utility>

#include "sim/base/csv.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/event_crowds.hpp"
#include "sim/inputs/topology.hpp"

namespace gradcast {
namespace {

constexpr std::array kEventColumns = {"event", "target", "at", "lasting", "value"};
using Rows = CsvReader;

/// The number after a word: "rank 3".
int parse_rank(std::string_view text) {
  constexpr std::string_view kWord = "rank ";
  if (text.starts_with(kWord)) {
    const std::int64_t rank = parse_integer(text.substr(kWord.size()));
    if (rank >= 0 && rank < kMostRanks) return static_cast<int>(rank);
  }
  throw ValueError("'" + std::string(text) + "' is not a rank, like 'rank 3'");
}

/// "rank 0 > rank 5"
std::pair<int, int> parse_ends(std::string_view text) {
  const std::size_t between = text.find(" > ");
  if (between == std::string_view::npos)
    throw ValueError("'" + std::string(text) + "' is not two ranks, like 'rank 0 > rank 5'");
  const std::pair ends{parse_rank(text.substr(0, between)), parse_rank(text.substr(between + 3))};
  if (ends.first == ends.second) throw ValueError("a flow goes from one rank to another");
  return ends;
}

double parse_share(std::string_view text) {
  const double share = parse_percent(text);
  if (share > 0) return share;
  throw ValueError("'" + std::string(text) +
                   "' stops it: that is the event 'pause' of a rank or 'down' of a link");
}

void require_no_value(const Rows& rows) {
  if (!rows.text("value").empty()) throw rows.failure("value", "this event has none");
}

/// The one list of events.
struct EventKind {
  std::string_view name;
  void (*add)(World& world, const Rows& rows, const Period& period);
};

constexpr EventKind kKinds[] = {
    {"speed",
     [](World& world, const Rows& rows, const Period& period) {
       world.ranks.push_back(
           {rows.value("target", parse_rank), period, rows.value("value", parse_share)});
     }},
    {"pause",
     [](World& world, const Rows& rows, const Period& period) {
       require_no_value(rows);
       world.ranks.push_back({rows.value("target", parse_rank), period, 0});
     }},
    {"bandwidth",
     [](World& world, const Rows& rows, const Period& period) {
       world.links.push_back({rows.word("target"), period, rows.value("value", parse_share)});
     }},
    {"down",
     [](World& world, const Rows& rows, const Period& period) {
       require_no_value(rows);
       world.links.push_back({rows.word("target"), period, 0});
     }},
    {"flow",
     [](World& world, const Rows& rows, const Period& period) {
       const auto [from, to] = rows.value("target", parse_ends);
       const bool limited = !rows.text("value").empty();
       world.flows.push_back(
           {from, to, period, limited ? rows.value("value", parse_rate) : BytesPerSecond{}});
     }},
};

const EventKind& find_kind(std::string_view name) {
  std::vector<std::string> known;
  for (const EventKind& kind : kKinds) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  throw ValueError("unknown event '" + std::string(name) + "'" + did_you_mean(name, known) +
                   " (events: " + join(known) + ")");
}

/// The targets that events can have.
class Targets {
 public:
  explicit Targets(const Cluster& cluster) : cluster_(cluster) {}

  void require(const RankEvent& event) const { require_rank(event.rank); }
  void require(const BackgroundFlow& flow) const {
    require_rank(flow.from);
    require_rank(flow.to);
  }
  void require(const LinkEvent& event) {
    if (!cluster_.platform_file.empty()) return;
    if (!links_) links_.emplace(make_topology(cluster_));
    links_->find(event.link);
  }

 private:
  void require_rank(int rank) const {
    if (rank < 0 || rank >= cluster_.ranks())
      throw ValueError("there is no rank " + std::to_string(rank) + ": ranks are 0 to " +
                       std::to_string(cluster_.ranks() - 1));
  }

  const Cluster& cluster_;
  std::optional<LinkNames> links_;  // where they were asked for
};

void require_all(const World& world, Targets& targets) {
  for (const RankEvent& event : world.ranks) targets.require(event);
  for (const LinkEvent& event : world.links) targets.require(event);
  for (const BackgroundFlow& flow : world.flows) targets.require(flow);
}

template <class Event>
void append(std::vector<Event>& all, const std::vector<Event>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Throws DataError where more go on at the same time than anything has.
void require_no_crowd(const EventCrowds& crowds, std::size_t most, const std::string& path) {
  const auto crowd = crowds.beyond(most);
  if (!crowd) return;
  throw DataError(path, crowd->line,
                  "more than " + std::to_string(most) + " events of " + in_quotes(crowd->target) +
                      " go on at " + to_text(crowd->at) + ", which is a slip");
}

World read_events(const TextFile& file, Targets* targets) {
  World world;
  EventCrowds of_targets;
  EventCrowds of_network;
  std::size_t count = 0;
  Rows rows(file, kEventColumns, 3);
  while (rows.next()) {
    if (++count > kMostEvents)
      throw rows.failure("the file has more than " + std::to_string(kMostEvents) + " events");
    const EventKind& kind = rows.value("event", find_kind);
    Period period{rows.value("at", parse_time), {}};
    if (!rows.text("lasting").empty()) period.lasting = rows.value("lasting", parse_time);
    World one;
    kind.add(one, rows, period);
    try {
      if (targets != nullptr) require_all(one, *targets);
    } catch (const ValueError& error) {
      throw rows.failure("target", error.what());
    }
    append(world.ranks, one.ranks);
    append(world.links, one.links);
    append(world.flows, one.flows);
    // Flows share the network, whoever sends them.
    if (one.flows.empty())
      of_targets.add(rows.text("target"), period, rows.line());
    else
      of_network.add("flow", period, rows.line());
  }
  require_no_crowd(of_targets, kMostEventsAtOnce, file.path.string());
  require_no_crowd(of_network, kMostFlowsAtOnce, file.path.string());
  return world;
}

}  // namespace

World load_events(const TextFile& file) { return read_events(file, nullptr); }

World load_events(const TextFile& file, const Cluster& cluster) {
  Targets targets(cluster);
  return read_events(file, &targets);
}

void require_targets(const World& world, const Cluster& cluster) {
  Targets targets(cluster);
  require_all(world, targets);
}

}  // namespace gradcast
