#include "sim/engine/simgrid/platform_xml.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/cluster_properties.hpp"

namespace sg4 = simgrid::s4u;

namespace gradcast {
namespace {

/// SimGrid's "Parse error at x.xml:6: unknown unit", in this project's words.
DataError parse_error(const std::string& path, std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  std::size_t line = 0;
  const std::string prefix = "Parse error at " + path + ":";
  if (what.starts_with(prefix)) {
    const std::string rest = what.substr(prefix.size());
    const std::size_t digits = rest.find_first_not_of("0123456789");
    if (digits != std::string::npos && digits > 0 && digits < 9 && rest[digits] == ':') {
      line = std::stoul(rest);
      what = rest.substr(digits + 1 + (rest.compare(digits, 2, ": ") == 0 ? 1 : 0));
    }
  }
  return {path, line, "SimGrid cannot read this platform: " + what};
}

void require_sound(const std::string& path, const std::vector<sg4::Link*>& links) {
  for (const sg4::Link* link : links) {
    const auto refuse = [&](const std::string& what) {
      return DataError(path, 0, "link " + in_quotes(link->get_cname()) + " " + what);
    };
    if (link->get_sharing_policy() == sg4::Link::SharingPolicy::WIFI)
      throw refuse("is wireless, and wireless links are not simulated");
    const double bandwidth = link->get_bandwidth();
    if (!std::isfinite(bandwidth) || bandwidth <= 0)
      throw refuse("has a bandwidth of " + number_to_text(bandwidth) + " bytes a second");
    const double latency = link->get_latency();
    if (!(latency >= 0 && latency <= kLongestSeconds))
      throw refuse("has a latency of " + number_to_text(latency) + " s");
  }
}

/// Relative to the fastest.
std::vector<double> relative_speeds(const std::string& path, const std::vector<sg4::Host*>& hosts) {
  double fastest = 0;
  for (const sg4::Host* host : hosts) {
    const double speed = host->get_speed();
    if (!std::isfinite(speed) || speed <= 0)
      throw DataError(path, 0,
                      "host " + in_quotes(host->get_cname()) + " has a speed of " +
                          number_to_text(speed) + " flop/s");
    fastest = std::max(fastest, speed);
  }
  std::vector<double> speeds;
  for (const sg4::Host* host : hosts) {
    speeds.push_back(host->get_speed() / fastest);
    if (speeds.back() < kSlowestSpeed)
      throw DataError(path, 0,
                      "host " + in_quotes(host->get_cname()) +
                          " computes less than a thousandth as fast as the fastest; every host is "
                          "a rank that trains");
  }
  return speeds;
}

/// Moves the latencies of SimGrid's links into a topology.
Topology topology_of(const std::vector<sg4::Host*>& hosts, const std::vector<sg4::Link*>& links,
                     Seconds per_message_latency) {
  Topology topology;
  topology.ranks = static_cast<int>(hosts.size());
  topology.node_of.resize(hosts.size());
  std::iota(topology.node_of.begin(), topology.node_of.end(), 0);
  std::vector<Seconds> latencies;
  std::unordered_map<const sg4::Link*, std::uint32_t> numbers;
  for (sg4::Link* link : links) {
    numbers.emplace(link, static_cast<std::uint32_t>(latencies.size()));
    topology.links.push_back({link->get_name(), BytesPerSecond{link->get_bandwidth()},
                              link->get_sharing_policy() != sg4::Link::SharingPolicy::FATPIPE});
    latencies.emplace_back(link->get_latency());
    link->set_latency(0);
  }
  topology.route = [=, passed = std::vector<sg4::Link*>{}](
                       int from, int to, std::vector<std::uint32_t>& way) mutable {
    passed.clear();
    double none = 0;
    hosts[static_cast<std::size_t>(from)]->route_to(hosts[static_cast<std::size_t>(to)], passed,
                                                    &none);
    Seconds latency = per_message_latency;
    for (const sg4::Link* link : passed) {
      way.push_back(numbers.at(link));
      latency += latencies[way.back()];
    }
    return latency;
  };
  return topology;
}

}  // namespace

SimulatedNetwork load_platform(const sg4::Engine& engine, const Cluster& cluster) {
  const std::string path = cluster.platform_file.string();
  try {
    engine.load_platform(path);
  } catch (const std::exception& error) {
    throw parse_error(path, error.what());
  }
  std::vector<sg4::Host*> hosts = engine.get_all_hosts();
  if (hosts.empty()) throw DataError(path, 0, "the platform has no host");
  if (hosts.size() > static_cast<std::size_t>(kMostRanks))
    throw DataError(path, 0,
                    "the platform has " + std::to_string(hosts.size()) +
                        " hosts; the most ranks are " + std::to_string(kMostRanks));
  std::sort(hosts.begin(), hosts.end(), [](const sg4::Host* a, const sg4::Host* b) {
    return natural_less(a->get_name(), b->get_name());
  });
  const std::vector<sg4::Link*> links = engine.get_all_links();
  require_sound(path, links);
  std::vector<double> speeds = relative_speeds(path, hosts);
  Topology topology = topology_of(hosts, links, cluster.per_message_latency);
  return {std::move(hosts), std::move(topology), std::move(speeds)};
}

void require_routes(
    const SimulatedNetwork& network, const std::string& path,
    const std::function<void(const std::string&, const std::string&)>& about_to_try) {
  const auto require_route = [&](const sg4::Host* from, const sg4::Host* to) {
    about_to_try(from->get_name(), to->get_name());
    std::vector<sg4::Link*> links;
    double latency = 0;
    const auto refuse = [&](const std::string& what) {
      return DataError(path, 0,
                       "host " + in_quotes(from->get_cname()) + " " + what + " host " +
                           in_quotes(to->get_cname()));
    };
    try {
      from->route_to(to, links, &latency);
    } catch (const std::exception&) {
    }
    if (links.empty()) throw refuse("has no route to");
    // The latency of the links themselves is 0 by now; Vivaldi zones compute theirs.
    if (latency != 0) throw refuse("has a latency that is of no link to");
  };
  constexpr std::size_t kAllPairsUpTo = 512;  // hosts: a quarter of a million routes
  const auto& hosts = network.hosts;
  const std::size_t count = hosts.size();
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j)
      if (i != j && (count <= kAllPairsUpTo || i == 0 || j == 0 || i + 1 == j || j + 1 == i))
        require_route(hosts[i], hosts[j]);
}

}  // namespace gradcast
