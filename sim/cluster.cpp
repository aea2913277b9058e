#include "sim/cluster.hpp"

#include <algorithm>
#include <set>

#include "sim/csv.hpp"

namespace gradcast {
namespace {

constexpr std::array kColumns = {"property", "value", "source"};

/// The one list of properties: files, flags and results go through it.
struct Property {
  std::string_view name;
  std::string_view help;
  bool required;
  void (*set)(Cluster&, std::string_view);
  std::string (*get)(const Cluster&);
};

constexpr Property kProperties[] = {
    {"nodes", "machines", true, [](Cluster& c, std::string_view t) { c.nodes = parse_count(t); },
     [](const Cluster& c) { return std::to_string(c.nodes); }},
    {"gpus_per_node", "GPUs of each", true,
     [](Cluster& c, std::string_view t) { c.gpus_per_node = parse_count(t); },
     [](const Cluster& c) { return std::to_string(c.gpus_per_node); }},
    {"nic_bandwidth", "of a node, as one long flow reaches it, like 9.43Gbps", true,
     [](Cluster& c, std::string_view t) { c.nic.bandwidth = parse_rate(t); },
     [](const Cluster& c) { return to_text(c.nic.bandwidth); }},
    {"nic_latency", "one way between GPUs of two nodes, like 25us", false,
     [](Cluster& c, std::string_view t) { c.nic.latency = parse_time(t); },
     [](const Cluster& c) { return to_text(c.nic.latency); }},
    {"intra_bandwidth", "between GPUs of a node, like 10GBps", true,
     [](Cluster& c, std::string_view t) { c.intra.bandwidth = parse_rate(t); },
     [](const Cluster& c) { return to_text(c.intra.bandwidth); }},
    {"intra_latency", "one way between GPUs of a node, like 5us", false,
     [](Cluster& c, std::string_view t) { c.intra.latency = parse_time(t); },
     [](const Cluster& c) { return to_text(c.intra.latency); }},
    {"per_iteration_overhead", "software time of every iteration, like 2ms", false,
     [](Cluster& c, std::string_view t) { c.per_iteration_overhead = parse_time(t); },
     [](const Cluster& c) { return to_text(c.per_iteration_overhead); }},
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

}  // namespace

Link Cluster::between(int rank, int other) const {
  if (node_of(rank) == node_of(other)) return intra;
  return {std::min(nic.bandwidth, intra.bandwidth), nic.latency};
}

void require_possible(const Cluster& cluster) {
  const std::int64_t ranks = std::int64_t{cluster.nodes} * cluster.gpus_per_node;
  if (ranks > kMostRanks)
    throw ValueError(std::to_string(cluster.nodes) + " nodes of " +
                     std::to_string(cluster.gpus_per_node) + " GPUs are " + std::to_string(ranks) +
                     " ranks; the most is " + std::to_string(kMostRanks));
}

std::vector<ClusterProperty> properties_of(const Cluster& cluster) {
  std::vector<ClusterProperty> all;
  for (const Property& property : kProperties)
    all.push_back({std::string(property.name), property.get(cluster), std::string(property.help)});
  return all;
}

void set_property(Cluster& cluster, std::string_view name, std::string_view value) {
  find_property(name).set(cluster, value);
}

Cluster load_cluster(const TextFile& file) {
  Cluster cluster;
  cluster.name = file.path.stem().string();
  CsvReader<kColumns.size()> rows(file, kColumns);
  std::set<std::string> seen;
  while (rows.next()) {
    const std::string& property = rows.word("property");
    if (!seen.insert(property).second)
      throw rows.failure("property", "'" + property + "' stands twice");
    rows.word("source");
    const Property& known = rows.value("property", find_property);
    try {
      known.set(cluster, rows.word("value"));
    } catch (const ValueError& error) {
      throw rows.failure(property + ": " + error.what());
    }
  }
  for (const Property& property : kProperties)
    if (property.required && !seen.contains(std::string(property.name)))
      throw rows.failure("the property '" + std::string(property.name) + "' is missing");
  try {
    require_possible(cluster);
  } catch (const ValueError& error) {
    throw rows.failure(error.what());
  }
  return cluster;
}

}  // namespace gradcast
