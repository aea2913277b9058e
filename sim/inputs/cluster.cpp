#include "sim/inputs/cluster.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::array kColumns = {"property", "value", "source",
                                 // optional
                                 "deviation"};
constexpr std::size_t kRequired = 3;

/// The one list of properties: files, flags and results go through it.
struct Property {
  std::string_view name;
  std::string_view help;
  enum class Of { Shape, Network, Software } of;
  bool required;
  void (*set)(Cluster&, std::string_view);
  std::string (*get)(const Cluster&);
  void (*set_node)(NodeProperties&, std::string_view);  // nullptr: no override of single nodes
};

// How values are read and printed.

struct Count {
  static int parse(std::string_view text) { return parse_count(text); }
  static std::string print(int count) { return std::to_string(count); }
};

struct Time {
  static Seconds parse(std::string_view text) { return parse_time(text); }
  static std::string print(Seconds time) { return to_text(time); }
};

struct Rate {
  static BytesPerSecond parse(std::string_view text) { return parse_rate(text); }
  static std::string print(BytesPerSecond rate) { return to_text(rate); }
};

struct Size {
  static Bytes parse(std::string_view text) { return parse_bytes(text); }
  static std::string print(Bytes amount) { return to_text(amount); }
};

struct Percent {
  static double parse(std::string_view text) { return parse_percent(text); }
  static std::string print(double share) { return percent_to_text(share); }
};

struct Speed {
  static double parse(std::string_view text) {
    const double speed = parse_number(text);
    if (speed >= kSlowestSpeed && speed <= 1 / kSlowestSpeed) return speed;
    throw ValueError("'" + std::string(text) +
                     "' is not a speed from 0.001 to 1000, like '0.5' for half of the trace's");
  }
  static std::string print(double speed) { return number_to_text(speed); }
};

/// Of what may be absent.
template <class Kind>
struct OrNone {
  static auto parse(std::string_view text) {
    using Value = decltype(Kind::parse(text));
    return text == "none" || text == "0" ? Value{} : Kind::parse(text);
  }
  template <class Value>
  static std::string print(Value value) {
    return value == Value{} ? "none" : Kind::print(value);
  }
};

template <class Kind, class Field>
constexpr Property of_cluster(std::string_view name, std::string_view help, Property::Of of,
                              Field /*which*/, bool required = false) {
  return {name,
          help,
          of,
          required,
          [](Cluster& c, std::string_view text) { Field{}(c) = Kind::parse(text); },
          [](const Cluster& c) { return Kind::print(Field{}(c)); },
          nullptr};
}

template <class Kind, class Field>
constexpr Property of_node(std::string_view name, std::string_view help, Property::Of of,
                           Field which, bool required = false) {
  Property property = of_cluster<Kind>(name, help, of, which, required);
  property.set_node = [](NodeProperties& node, std::string_view text) {
    Field{}(node) = Kind::parse(text);
  };
  return property;
}

constexpr auto kShape = Property::Of::Shape;
constexpr auto kNetwork = Property::Of::Network;
constexpr auto kSoftware = Property::Of::Software;

constexpr Property kProperties[] = {
    of_cluster<Count>(
        "nodes", "machines", kShape, [](auto& c) -> auto& { return c.nodes; }, true),
    of_node<Count>(
        "gpus_per_node", "GPUs of each", kShape, [](auto& n) -> auto& { return n.gpus_per_node; },
        true),
    of_node<Rate>(
        "nic_bandwidth", "of a NIC, as one long flow reaches it, like 9.43Gbps", kNetwork,
        [](auto& n) -> auto& { return n.nic.bandwidth; }, true),
    of_node<Time>(
        "nic_latency", "one way between GPUs of two nodes, like 25us", kNetwork,
        [](auto& n) -> auto& { return n.nic.latency; }),
    of_node<Count>(
        "nics_per_node", "NICs of each; GPU i uses NIC i mod this", kNetwork,
        [](auto& n) -> auto& { return n.nics_per_node; }),
    of_node<Rate>(
        "intra_bandwidth", "between GPUs of a node, like 10GBps", kNetwork,
        [](auto& n) -> auto& { return n.intra.bandwidth; }, true),
    of_node<Time>(
        "intra_latency", "one way between GPUs of a node, like 5us", kNetwork,
        [](auto& n) -> auto& { return n.intra.latency; }),
    of_node<OrNone<Rate>>(
        "pcie_bandwidth", "one path a direction that a node's GPUs share, like 12GBps, or none",
        kNetwork, [](auto& n) -> auto& { return n.pcie_bandwidth; }),
    of_node<Speed>(
        "compute_speed", "of a node's GPUs, 1 as the trace says", kShape,
        [](auto& n) -> auto& { return n.compute_speed; }),
    of_cluster<OrNone<Count>>(
        "nodes_per_leaf", "of a leaf switch; none: one switch for all", kNetwork,
        [](auto& c) -> auto& { return c.nodes_per_leaf; }),
    of_cluster<OrNone<Rate>>(
        "leaf_uplink_bandwidth", "of a whole leaf to the spine, each direction, like 40Gbps",
        kNetwork, [](auto& c) -> auto& { return c.leaf_uplink_bandwidth; }),
    of_cluster<Time>(
        "leaf_uplink_latency", "what crossing the spine adds one way, like 2us", kNetwork,
        [](auto& c) -> auto& { return c.leaf_uplink_latency; }),
    of_cluster<OrNone<Count>>(
        "leaves_per_pod", "of a fat tree's pod; none: one spine for all", kNetwork,
        [](auto& c) -> auto& { return c.leaves_per_pod; }),
    of_cluster<OrNone<Rate>>(
        "pod_uplink_bandwidth", "of a whole pod to the core, each direction, like 100Gbps",
        kNetwork, [](auto& c) -> auto& { return c.pod_uplink_bandwidth; }),
    of_cluster<Time>(
        "pod_uplink_latency", "what crossing the core adds one way, like 2us", kNetwork,
        [](auto& c) -> auto& { return c.pod_uplink_latency; }),
    of_cluster<Time>(
        "per_message_latency", "software time of every message, like 3us", kSoftware,
        [](auto& c) -> auto& { return c.per_message_latency; }),
    of_cluster<Time>(
        "per_collective_latency", "software time of every collective, like 10us", kSoftware,
        [](auto& c) -> auto& { return c.per_collective_latency; }),
    of_cluster<OrNone<Size>>(
        "eager_limit",
        "from which on MPI asks the receiver before it sends, like 64KiB; none: never", kSoftware,
        [](auto& c) -> auto& { return c.eager_limit; }),
    of_cluster<Time>(
        "per_tensor_negotiation", "of agreeing on a tensor before its collective, like 50us",
        kSoftware, [](auto& c) -> auto& { return c.per_tensor_negotiation; }),
    of_cluster<Time>(
        "per_iteration_overhead", "software time of every iteration, like 2ms", kSoftware,
        [](auto& c) -> auto& { return c.per_iteration_overhead; }),
    of_cluster<Percent>(
        "communication_slowdown", "how much longer backward takes while a collective runs, like 5%",
        kSoftware, [](auto& c) -> auto& { return c.communication_slowdown; }),
    of_cluster<OrNone<Rate>>(
        "reduction_bandwidth",
        "at which a rank adds up what it received, like 5GBps; none: at no "
        "cost",
        kSoftware, [](auto& c) -> auto& { return c.reduction_bandwidth; }),
    of_cluster<Time>(
        "planner_startup", "of an all-reduce, as MG-WFBP's planner believes, like 1ms", kSoftware,
        [](auto& c) -> auto& { return c.planner_startup; }),
    of_cluster<OrNone<Rate>>(
        "planner_bandwidth",
        "of an all-reduce, as MG-WFBP's planner believes, like 1GBps; none: "
        "the network's",
        kSoftware, [](auto& c) -> auto& { return c.planner_bandwidth; }),
    of_cluster<Time>(
        "forecast_deviation", "of fitted forecasts from measurements, like 20ms", kSoftware,
        [](auto& c) -> auto& { return c.forecast_deviation; }),
    of_cluster<Percent>(
        "forecast_deviation_share", "the same as a share of the iteration, like 3%", kSoftware,
        [](auto& c) -> auto& { return c.forecast_deviation_share; }),
};

const Property& find_property(std::string_view name) {
  std::vector<std::string> known;
  for (const Property& property : kProperties) {
    if (property.name == name) return property;
    known.emplace_back(property.name);
  }
  throw ValueError("unknown property '" + std::string(name) + "'" + did_you_mean(name, known) +
                   " (properties: " + join(known) + ")");
}

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

/// A property of all nodes, or of those from first to last.
struct Named {
  const Property* property;
  std::optional<std::pair<int, int>> nodes;
};

/// "3" or "4..7"
std::pair<int, int> parse_nodes(std::string_view text) {
  const auto refuse = [&] {
    return ValueError(in_quotes(text) + " is not a node or a range of nodes like '3' or '4..7'");
  };
  const auto number = [&](std::string_view part) {
    try {
      const std::int64_t node = parse_integer(part);
      if (node >= 0 && node < 1'000'000) return static_cast<int>(node);
    } catch (const ValueError&) {
    }
    throw refuse();
  };
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {number(text), number(text)};
  const std::pair<int, int> range{number(text.substr(0, dots)), number(text.substr(dots + 2))};
  if (range.first > range.second) throw refuse();
  return range;
}

Named parse_name(std::string_view name) {
  const std::size_t at = name.find('@');
  const Property& property = find_property(name.substr(0, at));
  if (at == std::string_view::npos) return {&property, std::nullopt};
  if (property.set_node == nullptr) {
    std::vector<std::string> possible;
    for (const Property& other : kProperties)
      if (other.set_node != nullptr) possible.emplace_back(other.name);
    throw ValueError(in_quotes(property.name) + " is the whole cluster's; nodes may differ in " +
                     join(possible));
  }
  return {&property, parse_nodes(name.substr(at + 1))};
}

std::string full_name(const Named& named) {
  const std::string property(named.property->name);
  return named.nodes ? NodeOverride{property, named.nodes->first, named.nodes->second, ""}.name()
                     : property;
}

/// What a SimGrid platform says is not said twice.
constexpr std::string_view kOfPlatform = "as the platform file";

std::string value_of(const Property& property, const Cluster& cluster) {
  if (!cluster.platform_file.empty() && property.of == kNetwork) return std::string(kOfPlatform);
  return property.get(cluster);
}

void set_named(Cluster& cluster, const Named& named, std::string_view value) {
  const Property& property = *named.property;
  if (named.nodes) {
    Cluster tried;
    property.set_node(tried, value);
    cluster.add_override(
        {std::string(property.name), named.nodes->first, named.nodes->second, property.get(tried)});
  } else {
    property.set(cluster, value);
  }
  cluster.lay_out_ranks();
}

/// What is wrong with a cluster as a whole, and in which property it shows.
struct Fault {
  std::string property;
  std::string what;
};

std::optional<Fault> too_many_ranks(const Cluster& cluster) {
  std::int64_t ranks = std::int64_t{cluster.nodes} * cluster.gpus_per_node;
  for (const NodeOverride& override : cluster.overrides())
    if (override.property == "gpus_per_node")
      ranks += (std::int64_t{override.last} - override.first + 1) *
               (parse_count(override.value) - cluster.gpus_per_node);
  if (ranks <= kMostRanks) return {};
  return Fault{"nodes",
               std::to_string(cluster.nodes) + " nodes of " +
                   (cluster.nodes_alike() ? std::to_string(cluster.gpus_per_node) : "so many") +
                   " GPUs are " + std::to_string(ranks) + " ranks; the most is " +
                   std::to_string(kMostRanks)};
}

/// Routes between the GPUs of such a node are kept pair by pair.
std::optional<Fault> too_many_gpus(const Cluster& cluster) {
  constexpr int kMost = 1024;
  for (int number = 0; number < cluster.nodes; ++number) {
    const NodeProperties node = cluster.node(number);
    if (node.nics_per_node > 1 && node.gpus_per_node > kMost)
      return Fault{"nics_per_node",
                   "node " + std::to_string(number) + " has " + std::to_string(node.gpus_per_node) +
                       " GPUs; with several NICs the most is " + std::to_string(kMost)};
    if (cluster.nodes_alike()) break;
  }
  return {};
}

std::optional<Fault> fault_of(const Cluster& cluster) {
  for (const NodeOverride& override : cluster.overrides())
    if (override.last >= cluster.nodes)
      return Fault{override.name(),
                   in_quotes(override.name()) + " is of a node that is not there: the last of " +
                       std::to_string(cluster.nodes) + " is " + std::to_string(cluster.nodes - 1)};
  if (auto fault = too_many_ranks(cluster)) return fault;
  if (auto fault = too_many_gpus(cluster)) return fault;
  struct Need {
    std::string_view property;
    bool there;
    std::string_view needs;
    bool met;
  };
  const bool leaves = cluster.nodes_per_leaf > 0;
  const bool leaf_rate = cluster.leaf_uplink_bandwidth.value > 0;
  const bool pods = cluster.leaves_per_pod > 0;
  const bool pod_rate = cluster.pod_uplink_bandwidth.value > 0;
  const Need needs[] = {
      {"nodes_per_leaf", leaves, "leaf_uplink_bandwidth", leaf_rate},
      {"leaf_uplink_bandwidth", leaf_rate, "nodes_per_leaf", leaves},
      {"leaf_uplink_latency", cluster.leaf_uplink_latency > Seconds{0}, "nodes_per_leaf", leaves},
      {"leaves_per_pod", pods, "nodes_per_leaf", leaves},
      {"leaves_per_pod", pods, "pod_uplink_bandwidth", pod_rate},
      {"pod_uplink_bandwidth", pod_rate, "leaves_per_pod", pods},
      {"pod_uplink_latency", cluster.pod_uplink_latency > Seconds{0}, "leaves_per_pod", pods},
      {"planner_startup", cluster.planner_startup > Seconds{0}, "planner_bandwidth",
       cluster.planner_bandwidth.value > 0},
  };
  for (const Need& need : needs)
    if (need.there && !need.met)
      return Fault{std::string(need.property), in_quotes(need.property) + " says nothing without " +
                                                   in_quotes(need.needs) + ", which is missing"};
  return {};
}

}  // namespace

std::string NodeOverride::name() const {
  return property + "@" + std::to_string(first) +
         (first == last ? "" : ".." + std::to_string(last));
}

int Cluster::first_rank(int node) const {
  return first_ranks_.empty() ? node * gpus_per_node : first_ranks_[static_cast<std::size_t>(node)];
}

int Cluster::node_of(int rank) const {
  if (first_ranks_.empty()) return rank / gpus_per_node;
  const auto after = std::upper_bound(first_ranks_.begin(), first_ranks_.end(), rank);
  return static_cast<int>(after - first_ranks_.begin()) - 1;
}

const NodeOverride* Cluster::find_override(std::string_view property, int node) const {
  // The first that ends at the node or after it.
  const auto found = std::lower_bound(
      overrides_.begin(), overrides_.end(), std::tie(property, node),
      [](const NodeOverride& override, const auto& key) {
        return std::tuple(std::string_view(override.property), override.last) < key;
      });
  const bool covers =
      found != overrides_.end() && found->property == property && found->first <= node;
  return covers ? &*found : nullptr;
}

NodeProperties Cluster::node(int number) const {
  NodeProperties node = *this;
  if (!overrides_.empty())
    for (const Property& property : kProperties)
      if (property.set_node != nullptr)
        if (const NodeOverride* override = find_override(property.name, number))
          property.set_node(node, override->value);
  node.nic.latency *= latency_factor;
  node.intra.latency *= latency_factor;
  if (!nic_slowness.empty()) {
    const double slowness = nic_slowness.at(static_cast<std::size_t>(number));
    node.nic.bandwidth.value /= slowness;
    node.nic.latency *= slowness;
  }
  return node;
}

double Cluster::speed_of(int rank) const {
  const NodeOverride* override = find_override("compute_speed", node_of(rank));
  return override != nullptr ? Speed::parse(override->value) : compute_speed;
}

void Cluster::add_override(NodeOverride added) {
  const auto key = [](const NodeOverride& override) {
    return std::tie(override.property, override.first);
  };
  auto at = std::lower_bound(overrides_.begin(), overrides_.end(), added,
                             [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto refuse_overlap = [&](const NodeOverride& other) {
    if (other.property == added.property && other.first <= added.last && added.first <= other.last)
      throw ValueError(in_quotes(added.name()) + " overlaps " + in_quotes(other.name()));
  };
  if (at != overrides_.begin()) refuse_overlap(*std::prev(at));
  if (at != overrides_.end() && at->name() == added.name()) {
    *at = std::move(added);
    return;
  }
  if (at != overrides_.end()) refuse_overlap(*at);
  overrides_.insert(at, std::move(added));
}

void Cluster::lay_out_ranks() {
  first_ranks_.clear();
  const bool alike = std::none_of(overrides_.begin(), overrides_.end(),
                                  [](const auto& o) { return o.property == "gpus_per_node"; });
  if (alike || nodes > kMostRanks) return;  // of the latter nobody asks
  int ranks = 0;
  first_ranks_.push_back(0);
  for (int number = 0; number < nodes; ++number) {
    const NodeOverride* override = find_override("gpus_per_node", number);
    // require_possible refuses what is more than that.
    ranks = std::min(ranks + (override != nullptr ? Count::parse(override->value) : gpus_per_node),
                     kMostRanks + 1);
    first_ranks_.push_back(ranks);
  }
}

void require_possible(const Cluster& cluster) {
  if (const auto fault = fault_of(cluster)) throw ValueError(fault->what);
}

std::vector<ClusterProperty> properties_of(const Cluster& cluster) {
  std::vector<ClusterProperty> all;
  for (const Property& property : kProperties)
    all.push_back(
        {std::string(property.name), value_of(property, cluster), std::string(property.help)});
  for (const NodeOverride& override : cluster.overrides())
    all.push_back({override.name(), override.value, ""});
  return all;
}

void set_property(Cluster& cluster, std::string_view name, std::string_view value) {
  const Named named = parse_name(name);
  if (cluster.platform_file.empty() || named.property->of == kSoftware)
    return set_named(cluster, named, value);
  for (const ClusterProperty& said : properties_of(cluster))
    if (said.name == name && said.value == value) return;
  throw ValueError("that is said by the platform file; change it in " +
                   in_quotes(cluster.platform_file.string()));
}

std::pair<Cluster, Cluster> one_deviation_about(const Cluster& cluster,
                                                const PropertyDeviation& deviation) {
  const std::string value = find_property(deviation.property).get(cluster);
  // A value is a number and its unit.
  const std::size_t unit = value.find_first_not_of("0123456789.e+-");
  if (value.empty() || unit == 0) return {cluster, cluster};  // "none"
  const auto moved = [&](double factor) {
    Cluster other = cluster;
    set_property(other, deviation.property,
                 number_to_text(parse_number(value.substr(0, unit)) * factor) +
                     (unit == std::string::npos ? "" : value.substr(unit)));
    return other;
  };
  // A rate may not come down to nothing.
  return {moved(std::max(0.01, 1 - deviation.share)), moved(1 + deviation.share)};
}

Cluster load_cluster(const TextFile& file) {
  Cluster cluster;
  cluster.name = file.path.stem().string();
  CsvReader rows(file, kColumns, kRequired);
  std::map<std::string, std::size_t> seen;  // and in which line
  while (rows.next()) {
    rows.word("property");
    rows.word("source");
    const Named named = rows.value("property", parse_name);
    if (!seen.emplace(full_name(named), rows.line()).second)
      throw rows.failure("property", in_quotes(full_name(named)) + " stands twice");
    try {
      set_named(cluster, named, rows.word("value"));
    } catch (const ValueError& error) {
      throw rows.failure(full_name(named) + ": " + error.what());
    }
    if (rows.text("deviation").empty()) continue;
    if (named.nodes || named.property->of == kShape)
      throw rows.failure("deviation", "only values of all nodes have one, and no counts");
    cluster.deviations.push_back(
        {std::string(named.property->name), rows.value("deviation", parse_percent)});
  }
  for (const Property& property : kProperties)
    if (property.required && !seen.contains(std::string(property.name)))
      throw rows.failure("the property '" + std::string(property.name) + "' is missing");
  if (const auto fault = fault_of(cluster))
    throw DataError(file.path.string(), seen[fault->property], fault->what);
  return cluster;
}

}  // namespace gradcast
