#include "sim/forecast/link_doubt.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>

#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/interval.hpp"
#include "sim/inputs/cluster_properties.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/network/measured_time.hpp"
#include "sim/plan/stack.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
namespace {

/// The most that a host's sockets carry is 28 Gb/s in forecasts (`socket_rate`). The least that its
/// three sources say is 17. The most that anybody published is 143, of 8 H100 a node on 200 Gb/s at
/// Google, a ring on 3 nodes at 114 (elideng-sg/hypercomputer-internode-deepdive). Of 12 machines
/// with a known NIC of more than 10 Gb/s (platforms/README.md) the geometric mean is 32.
constexpr double kMostOfSockets = 143. / 28;
constexpr double kLeastOfSockets = 17. / 28;
/// A cloud may carry less: one flow between two machines of EC2 has 5 Gb/s where they share no
/// cluster placement group (Amazon EC2 User Guide, instance network bandwidth), and NCCL opens one
/// socket a channel. NICs of 10 Gb/s and less were reached almost in full in all sources. Between
/// these and the next that are sold, of 25 Gb/s, the least falls from the one to the other.
constexpr double kFlowOfCloud = 5. / 28;
constexpr double kCertainNic = 10e9 / 8;
constexpr double kNicOfCloud = 25e9 / 8;

/// A GPU alone on its node may reach no more than a quarter of its NIC, or 25 Gb/s where that is
/// more: one process sends, often through the host's memory. Five published logs of two such nodes
/// reached .64, .35, .26, .25 and .21 of NICs of 100 to 400 Gb/s, and one .9 of 25 Gb/s
/// (platforms/README.md).
constexpr double kLoneShare = 0.25;
constexpr double kCertainOfLone = 25e9 / 8;

/// A link of which less is known is between 0.13 and 7.5 times its bandwidth all the same.
constexpr double kMostDeviation = 1;

/// A slot of PCIe 4.0 carries this: no link without NVLink is faster. Hopper and later GPUs have
/// PCIe 5.0, which carries twice as much.
constexpr double kMostOfPcie = 24e9;

constexpr std::string_view kLink = "link of ";

constexpr std::string_view kBy = " by ";  // a library that is not NCCL
constexpr const char* kSockets = "sockets";
constexpr const char* kLone = "NIC of a GPU alone";
constexpr const char* kIntra = "intra_bandwidth";

/// Libraries reach different shares of one link.
std::string name_of(const Scenario& scenario, const std::string& what) {
  return std::string(kLink) + scenario.cluster.name + ": " + what +
         (scenario.library == nullptr ? ""
                                      : std::string(kBy) + std::string(scenario.library->name));
}

/// Collectives of a run whose algorithm its library chooses. If somebody named it, there are none.
std::vector<Outcome> outcomes_of(const Scenario& scenario) {
  const bool gathers = scenario.sharding.kind == Sharding::Fsdp && scenario.payload.count == 0;
  if (!gathers && scenario.collective != nullptr) return {};
  if (scenario.payload.count > 0) return {scenario.outcome};
  if (!gathers && scenario.aggregation() == Aggregation::AllGather) return {Outcome::AllGathered};
  if (scenario.sharding.kind == Sharding::None || scenario.all_reduces_gradients())
    return {Outcome::AllReduced};
  return {Outcome::Scattered, Outcome::AllGathered};
}

/// True if the cluster has the links of its file, of as many GPUs.
bool has_links_of(const Cluster& cluster, const Cluster& file) {
  Cluster of_gpus = file;
  of_gpus.gpus_per_node = cluster.gpus_per_node;
  leave_links(of_gpus, file);
  return cluster.intra.bandwidth == of_gpus.intra.bandwidth &&
         (cluster.nodes == 1 || (cluster.nic.bandwidth == file.nic.bandwidth &&
                                 cluster.nics_per_node == file.nics_near(cluster.gpus_per_node)));
}

/// True if all of the run's collectives take times that were measured on the cluster, whose links
/// are those that they were measured on.
bool takes_measured(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  if (cluster.measured == nullptr || !has_links_of(cluster, cluster.measured->described))
    return false;
  const MeasuredTimes times(cluster, scenario.nccl, scenario.library);
  const std::vector<Outcome> outcomes = outcomes_of(scenario);
  return !outcomes.empty() && std::ranges::all_of(outcomes, [&](Outcome outcome) {
    return times.has(layout_of(cluster), outcome);
  });
}

bool is_stated(const Scenario& scenario, const std::string& property) {
  return std::ranges::find(scenario.stated, property) != scenario.stated.end();
}

/// True for a collective alone whose stack has the errors of such collectives over TCP.
bool has_errors_of_sockets(const Scenario& scenario) {
  return scenario.payload.count > 0 && scenario.stack != nullptr &&
         scenario.stack->name.starts_with("stack-nccl-tcp");
}

/// The factor at the fast end, which is `factor` where the link's sources do not say less.
double faster_by(const Cluster& cluster, const std::string& property, double factor) {
  const double taken = cluster.intra.bandwidth.value;
  if (property != kIntra || joined_by_nvlink(cluster)) return factor;
  return std::min(factor, std::max(1.0, (in_pcie_5(cluster) ? 2 : 1) * kMostOfPcie / taken));
}

/// The cluster with a factor on a link's rate. NCCL chooses as without it.
Cluster moved(const Cluster& cluster, const std::string& property, double factor) {
  Cluster other = with_factor(cluster, property, factor);
  other.chosen_on = std::make_shared<const Cluster>(cluster);
  return other;
}

double nic_rate(const Cluster& cluster) { return cluster.node(0).nic.bandwidth.value; }

double least_of_sockets(double nic) {
  const double grown = std::log(nic / kCertainNic) / std::log(kNicOfCloud / kCertainNic);
  return kLeastOfSockets * std::pow(kFlowOfCloud / kLeastOfSockets, std::clamp(grown, 0.0, 1.0));
}

void add_sockets(std::vector<LinkDoubt>& doubts, const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  // A stack that says what a host sends by its sockets has the doubt in that term's deviation.
  if (has_errors_of_sockets(scenario) || cluster.host_bandwidth.value > 0) return;
  Cluster slow = cluster;
  Cluster fast = cluster;
  slow.socket_factor = least_of_sockets(cluster.nic.bandwidth.value);
  fast.socket_factor = kMostOfSockets;
  const double taken = nic_rate(cluster);
  doubts.push_back(
      {name_of(scenario, kSockets), slow, fast, taken / nic_rate(slow), nic_rate(fast) / taken});
}

void add_lone_gpu(std::vector<LinkDoubt>& doubts, const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const bool by_nccl = scenario.library == nullptr && scenario.nccl;
  if (!by_nccl || cluster.ranks() > cluster.nodes || is_stated(scenario, "nic_share") ||
      nic_rate(cluster) <= kCertainOfLone)
    return;
  const double share = std::max(kLoneShare, kCertainOfLone / nic_rate(cluster));
  doubts.push_back(
      {name_of(scenario, kLone), moved(cluster, "nic_bandwidth", share), cluster, 1 / share, 1});
}

/// True where the runs that the stack was learned from have the link in them, at this rate. Runs
/// that wait for a NIC say nothing of links between GPUs, and nothing of another NIC.
bool is_shown(const Scenario& scenario, const LinkDoubt& doubt) {
  if (scenario.stack == nullptr || !is_learned_on(*scenario.stack, scenario.cluster)) return false;
  const auto& shown = scenario.stack->shown_links;
  return !shown || std::ranges::find(*shown, shown_as(doubt.name, scenario)) != shown->end();
}

}  // namespace

std::string shown_as(const std::string& link, const Scenario& scenario) {
  constexpr int kDigits = 3;
  const Cluster& cluster = scenario.cluster;
  const double rate = link == name_of(scenario, kIntra)
                          ? cluster.intra.bandwidth.value
                          : cluster.nics_per_node * cluster.nic.bandwidth.value;
  return link + " at " + number_to_text(rounded_to(kDigits, rate / 1e9)) + "GBps";
}

double interval_reach() {
  static const double kReach = t_quantile((1 + kIntervalLevel) / 2, kSpreadDegrees);
  return kReach;
}

bool is_link(const std::string& name) { return name.starts_with(kLink); }

bool is_link_of_nccl(const std::string& name) {
  const std::size_t what = name.rfind(": ");
  return is_link(name) && what != std::string::npos && name.find(kBy, what) == std::string::npos;
}

std::vector<LinkDoubt> link_doubts(const Scenario& scenario, double reach) {
  std::vector<LinkDoubt> doubts;
  const Cluster& cluster = scenario.cluster;
  if (!cluster.platform_file.empty() || takes_measured(scenario)) return doubts;
  for (const PropertyDeviation& deviation : cluster.deviations) {
    if (deviation.share <= 0 || is_stated(scenario, deviation.property) ||
        !deviation.property.ends_with("_bandwidth") ||
        find_property(deviation.property).of != PropertyRow::Of::Network)
      continue;
    // To its NIC alone a GPU needs no peer-to-peer between GPUs.
    if (cluster.gpus_per_node == 1 && deviation.property.starts_with("intra_")) continue;
    const double factor = std::exp(std::min(deviation.share, kMostDeviation) * reach);
    const double faster = faster_by(cluster, deviation.property, factor);
    doubts.push_back({name_of(scenario, deviation.property),
                      moved(cluster, deviation.property, 1 / factor),
                      moved(cluster, deviation.property, faster), factor, faster});
  }
  if (cluster.nodes > 1 && cluster.by_sockets)
    add_sockets(doubts, scenario);
  else if (cluster.nodes > 1)
    add_lone_gpu(doubts, scenario);
  std::erase_if(doubts, [&](const LinkDoubt& doubt) { return is_shown(scenario, doubt); });
  return doubts;
}

LinkTime link_time(const LinkDoubt& doubt, double reach,
                   const std::function<double(const Cluster&)>& time_on, const Cluster& as_it_is) {
  const double taken = time_on(as_it_is);
  const double longer = std::max(0.0, time_on(doubt.slow) - taken);
  const double shorter = std::max(0.0, taken - time_on(doubt.fast));
  // Bytes that nothing hides take `seconds`, times or over the ratio of rates at the ends. Bytes
  // that compute hides show at the slow end alone.
  const double by_fast = doubt.faster > 1 ? shorter / (1 - 1 / doubt.faster) : 0;
  const double seconds = std::max(longer / (doubt.slower - 1), by_fast);
  if (seconds <= 0) return {};
  return {seconds, std::log1p(longer / seconds) / reach, -std::log1p(-shorter / seconds) / reach};
}

double longer_at_slow_end(const SpreadTerm& link) {
  return link.seconds * std::expm1(link.deviation * interval_reach());
}

std::string link_words(const Scenario& scenario, const SoftwareSpread& spread) {
  constexpr double kMatters = 0.01;
  const double reach = interval_reach();
  const auto binds = [&](const std::string& name) {
    return std::ranges::any_of(spread.terms, [&](const SpreadTerm& term) {
      return term.name == name && longer_at_slow_end(term) >= kMatters * spread.forecast;
    });
  };
  const auto gigabytes = [](const Cluster& cluster) {
    return number_to_text(rounded_to(2, cluster.intra.bandwidth.value / 1e9)) + "GBps";
  };
  std::string words;
  for (const LinkDoubt& doubt : link_doubts(scenario, reach)) {
    if (!binds(doubt.name)) continue;
    if (doubt.name == name_of(scenario, kIntra))
      words += "; GPUs of a node at " + gigabytes(scenario.cluster) +
               ", not measured: the interval has " + gigabytes(doubt.slow) + " to " +
               gigabytes(doubt.fast) + " (--intra-bandwidth says yours)";
    if (doubt.name == name_of(scenario, kLone))
      words +=
          "; a GPU alone on its node, which may reach a quarter of its NIC, not measured "
          "(--nic-share says yours)";
    if (doubt.name != name_of(scenario, kSockets)) continue;
    const double taken = nic_rate(scenario.cluster);
    const auto gigabits = [&](double rate) {
      return number_to_text(rounded_to(2, rate * 8 / 1e9)) + "Gbps";
    };
    words += "; sockets at " + gigabits(taken) + ", not measured: the interval has " +
             gigabits(taken / doubt.slower) + " to " + gigabits(taken * doubt.faster) +
             " (--nic-share says yours)";
  }
  return words;
}

}  // namespace gradcast
