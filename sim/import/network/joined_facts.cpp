#include "sim/import/network/joined_facts.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/bench/device_slug.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/import/network/derived_links.hpp"
#include "sim/inputs/cluster_properties.hpp"

namespace gradcast {
namespace {

std::string name_of(NetworkKind kind) {
  Cluster cluster;
  cluster.network_kind = kind;
  return find_property("network_kind").get(cluster);
}

/// The words of a GPU's name without those that people leave out, of its memory and of a module:
/// "a100" of "A100-SXM4-40GB", "h100 pcie" of "H100 PCIe", "rtx 3080 ti" of "RTX 3080 Ti".
std::vector<std::string> chip_of(const std::string& device) {
  std::vector<std::string> words = split_words(device_slug(device), '-');
  std::erase_if(words, [](const std::string& word) {
    return word.ends_with("gb") || word.starts_with("hbm") || word.starts_with("sxm") ||
           word == "tensor" || word == "core";
  });
  return words;
}

/// Nodes of a cluster are alike. "H100" and "NVIDIA H100 80GB HBM3" may be the same GPU.
void require_same_gpu(const NetworkFacts& all, const NetworkFacts& one) {
  if (one.device.empty() || all.device.empty() || chip_of(one.device) == chip_of(all.device))
    return;
  throw UsageError(all.device_file + " is of " + all.device + ", " + one.device_file + " of " +
                   one.device + ": a cluster has GPUs of one kind; import each by itself");
}

/// Notes why the files seem to be of several clusters.
void note_mixed(NetworkFacts& facts, const std::string& why) {
  facts.mixed.push_back(why + "; are all files of one cluster?");
  facts.notes.unknown.push_back("why " + facts.mixed.back());
}

void add(NetworkFacts& all, NetworkFacts one) {
  all.kind = all.kind.empty() || all.kind == one.kind ? one.kind : "several kinds";
  all.points.insert(all.points.end(), std::make_move_iterator(one.points.begin()),
                    std::make_move_iterator(one.points.end()));
  all.nodes = std::max(all.nodes, one.nodes);
  all.layout_is_said = all.layout_is_said || one.layout_is_said;
  all.gpus_per_node = std::max(all.gpus_per_node, one.gpus_per_node);
  all.nics_per_node = std::max(all.nics_per_node, one.nics_per_node);
  require_same_gpu(all, one);
  if (one.device.size() > all.device.size()) {
    all.device = one.device;
    all.device_file = one.device_file;
  }
  if (one.network_kind != NetworkKind::Unknown && all.network_kind != NetworkKind::Unknown &&
      one.network_kind != all.network_kind)
    note_mixed(all, "the files name two networks, " + name_of(all.network_kind) + " and " +
                        name_of(one.network_kind) + ": the last one is taken");
  if (one.network_kind != NetworkKind::Unknown) all.network_kind = one.network_kind;
  if (one.nvlink_sharp) all.nvlink_sharp = one.nvlink_sharp;
  if (!one.nccl_settings.text.empty()) all.nccl_settings = one.nccl_settings;
  if (one.nccl_plugin_latency) all.nccl_plugin_latency = one.nccl_plugin_latency;
  if (one.nic_bandwidth) all.nic_bandwidth = one.nic_bandwidth;
  if (one.nic_latency) all.nic_latency = one.nic_latency;
  if (one.nvlinks) all.nvlinks = one.nvlinks;
  for (const auto list :
       {&ImportNotes::used, &ImportNotes::dropped, &ImportNotes::inferred, &ImportNotes::unknown})
    std::copy((one.notes.*list).begin(), (one.notes.*list).end(),
              std::back_inserter(all.notes.*list));
}

/// Files of one cluster should agree, up to chance.
void note_disagreement(NetworkFacts& facts) {
  constexpr double kChance = 1.5;
  std::map<std::string, std::pair<Seconds, Seconds>> range;  // by case
  double most = 1;
  for (const CurvePoint& point : facts.points) {
    const std::string its = point.collective + " of " + to_text(point.bytes) + " on " +
                            std::to_string(point.nodes) + " x " +
                            std::to_string(point.gpus_per_node) + " GPUs, " + point.library;
    auto& [least, longest] = range.try_emplace(its, point.seconds, point.seconds).first->second;
    least = std::min(least, point.seconds);
    longest = std::max(longest, point.seconds);
    most = std::max(most, longest / least);
  }
  if (most > kChance)
    note_mixed(facts, "times of one case differ by up to a factor of " +
                          number_to_text(rounded_to(2, most)) + ": the median stands for them");
}

/// A longer message takes longer. If not, something else took the network or the machine.
void note_hiccups(NetworkFacts& facts) {
  constexpr double kHiccup = 1.5;
  constexpr std::size_t kMostNotes = 10;
  std::size_t notes = 0;
  const CollectiveCurve curve = curve_of(facts.points);
  const auto line_of = [](const CurvePoint& point) {
    return std::tie(point.collective, point.gpus_per_node, point.library, point.nodes);
  };
  for (std::size_t i = 0; i + 1 < curve.size() && notes < kMostNotes; ++i) {
    const CurvePoint& its = curve[i];
    const double times = its.seconds / curve[i + 1].seconds;
    if (line_of(its) != line_of(curve[i + 1]) || times <= kHiccup) continue;
    ++notes;
    facts.notes.unknown.push_back(
        "why " + its.collective + " of " + to_text(its.bytes) + " on " + std::to_string(its.nodes) +
        " x " + std::to_string(its.gpus_per_node) + " GPUs took " +
        number_to_text(rounded_to(2, times)) + " times as long as of " +
        to_text(curve[i + 1].bytes) + ": forecasts take that time; measure it again");
  }
}

/// NICs beyond a multiple of the GPUs are for storage and management, and carry no collectives.
void limit_nics(NetworkFacts& facts) {
  const int gpus = facts.gpus_per_node;
  if (gpus == 0 || facts.nics_per_node <= gpus || facts.nics_per_node % gpus == 0) return;
  facts.notes.inferred.push_back("NICs: one a GPU; the files list " +
                                 std::to_string(facts.nics_per_node));
  facts.nics_per_node = gpus;
}

/// Adds what iperf3 measured between two nodes. It may have used another network, that of
/// management for instance, and its sockets are not what NCCL uses on InfiniBand.
void add_sockets(NetworkFacts& all, const NetworkFacts& sockets) {
  const NetworkKind kind = all.network_kind;
  const std::optional<BytesPerSecond> other = all.nic_bandwidth;
  const std::optional<Seconds> latency = all.nic_latency;
  const bool same = kind == NetworkKind::Unknown || kind == NetworkKind::Tcp;
  NetworkFacts one = sockets;
  one.network_kind = same ? NetworkKind::Tcp : NetworkKind::Unknown;
  if (!same) {
    one.nic_latency.reset();
    one.notes.inferred.push_back("network_kind: " + name_of(kind) +
                                 ", as NCCL says; iperf3 measured TCP, whose round trip is left "
                                 "out");
  }
  add(all, std::move(one));
  all.links_of_tcp = true;
  all.kind_of_tcp = kind == NetworkKind::Unknown;
  if (latency) all.nic_latency = std::min(*latency, all.nic_latency.value_or(*latency));
  if (!all.nic_bandwidth) return;
  if (other && *other > *sockets.nic_bandwidth) {
    all.nic_bandwidth = other;
    all.network_kind = kind;
    all.links_of_tcp = all.kind_of_tcp = false;
    return all.notes.unknown.push_back("why iperf3 reached " + to_text(*sockets.nic_bandwidth) +
                                       ": the " + to_text(*other) + " of another file are taken");
  }
  const double leaving = least_leaving_node(all.points);
  const int nics = all.nics_per_node > 0
                       ? all.nics_per_node
                       : fewest_nics(leaving, all.gpus_per_node, all.network_kind);
  if (!(leaving > 0)) return;
  // NCCL's sockets may reach far less than iperf3's, and forecasts are of NCCL.
  constexpr double kChance = 1.05;
  // One stream over sockets may reach half of what several do. Collectives beyond that went over
  // another network, or past the sockets of this one: iperf3 says nothing of their latency. Where
  // NCCL says that it sends by sockets, one flow may have a limit of its own.
  constexpr double kAnotherNetwork = 2;
  const std::string rate = to_text(BytesPerSecond{rounded_to(3, leaving / nics)});
  const double times = leaving / (nics * all.nic_bandwidth->value);
  const bool another = times > kAnotherNetwork && kind != NetworkKind::Tcp;
  if (another) {
    all.nic_latency = latency;
    all.network_kind = kind;
    all.links_of_tcp = all.kind_of_tcp = false;
  }
  if (times > kChance)
    all.notes.unknown.push_back(
        "why iperf3 reached " + to_text(*all.nic_bandwidth) + " where a NIC sends " + rate +
        " in collectives: those decide nic_bandwidth" +
        (another ? ", and iperf3's round trip and its TCP are left out" : "") +
        "; is it another network?");
  else
    all.notes.inferred.push_back("nic_bandwidth: by collectives, in which a NIC sends at least " +
                                 rate + "; iperf3 reached " + to_text(*all.nic_bandwidth));
  all.nic_bandwidth.reset();
}

}  // namespace

NetworkFacts joined(std::vector<NetworkFacts> files) {
  NetworkFacts all, sockets;
  for (NetworkFacts& file : files) {
    NetworkFacts& of_its_kind = file.kind == "iperf3" ? sockets : all;
    add(of_its_kind, std::move(file));
  }
  if (!sockets.kind.empty()) add_sockets(all, sockets);
  limit_nics(all);
  note_disagreement(all);
  note_hiccups(all);
  return all;
}

}  // namespace gradcast
