#include "sim/inputs/cluster.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "kernels/bench/device_slug.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/cluster_properties.hpp"

namespace gradcast {

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
    for (const PropertyRow& property : property_rows())
      if (property.set_node != nullptr)
        if (const NodeOverride* override = find_override(property.name, number))
          property.set_node(node, override->value);
  if (node.gpus_per_node < gpus_per_node && find_override("nics_per_node", number) == nullptr)
    node.nics_per_node = nics_near(node.gpus_per_node);
  node.nic.bandwidth.value *= nic_share;
  if (by_sockets) node.nic.bandwidth = socket_rate(node.nic.bandwidth, socket_factor);
  node.nic.bandwidth = rate_beside(node.nic.bandwidth, host_bandwidth);
  node.nic.latency *= latency_factor;
  node.intra.latency *= latency_factor;
  if (!nic_slowness.empty()) {
    const double slowness = nic_slowness.at(static_cast<std::size_t>(number));
    node.nic.bandwidth.value /= slowness;
    node.nic.latency *= slowness;
  }
  // A GPU with several NICs sends by all of them, as by a faster one.
  if (node.nics_per_node > node.gpus_per_node) {
    node.nic.bandwidth.value *= static_cast<double>(node.nics_per_node) / node.gpus_per_node;
    node.nics_per_node = node.gpus_per_node;
  }
  return node;
}

int NodeProperties::nics_near(int gpus) const {
  if (gpus >= gpus_per_node) return nics_per_node;
  return std::min(nics_per_node, gpus * std::max(1, nics_per_node / gpus_per_node));
}

double Cluster::speed_of(int rank) const {
  const NodeOverride* override = find_override("compute_speed", node_of(rank));
  return override != nullptr ? parse_speed(override->value) : compute_speed;
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
    // fault_of refuses what is more than that.
    ranks = std::min(ranks + (override != nullptr ? parse_count(override->value) : gpus_per_node),
                     kMostRanks + 1);
    first_ranks_.push_back(ranks);
  }
}

BytesPerSecond socket_rate(BytesPerSecond nic, double factor) {
  constexpr double kMost = 28e9 / 8;
  return rate_beside(nic, {factor * kMost});
}

BytesPerSecond rate_beside(BytesPerSecond nic, BytesPerSecond host) {
  if (host.value <= 0) return nic;
  return {1 / std::hypot(1 / nic.value, 1 / host.value)};
}

namespace {

bool is_geforce(const std::string& gpu) {
  constexpr std::string_view kNamed[] = {"rtx-2080", "rtx-3090", "rtx-4090", "rtx-5090"};
  return std::ranges::any_of(
      kNamed, [slug = device_slug(gpu)](std::string_view name) { return slug.starts_with(name); });
}

struct RateInside {
  BytesPerSecond bandwidth;
  double deviation;  // of the logarithm
};

/// All-reduces of 64 MiB and more, bus bandwidths of machines that others measured, one figure
/// each: platforms/README.md. Up to PCIe 4.0 no host, slot or number of GPUs sorts them. Without
/// peer-to-peer 18 have the geometric mean 4.2 and lie 83 % apart. 15 with cards whose driver
/// permits it have the median 6.7: there too NCCL often sends through the host. On PCIe 5.0 6
/// without it have 20, and 5 with it 19 to 41; 20 and more would count as NVLink.
constexpr RateInside kThroughHost{BytesPerSecond{4.2e9}, 0.83};
constexpr RateInside kPermitted{BytesPerSecond{6.7e9}, 0.9};
constexpr RateInside kOnPcie5{BytesPerSecond{19e9}, 0.6};

/// Two ranks of a host by Gloo over TCP, measured on a machine without GPUs
/// (platforms/proving-ground.csv). No other machine was measured: the deviation is a guess.
constexpr RateInside kLoopback{BytesPerSecond{1.16e9}, 0.45};
constexpr Seconds kLoopbackLatency{82e-6};
/// No process copies more by a socket: a faster link is one of GPUs. A slower one may be Gloo's
/// own.
constexpr BytesPerSecond kMostOfLoopback{10e9};

/// Slots of PCIe 4.0 and 5.0 as NCCL counts them, as kPcie3Slot is (src/graph/topo.cc).
constexpr BytesPerSecond kPcie4Slot{24e9};
constexpr BytesPerSecond kPcie5Slot{48e9};
constexpr double kSlotDeviation = 0.45;  // as the files of generic clusters say

constexpr const char* kIntra = "intra_bandwidth";

bool guesses_inside(const Cluster& cluster) {
  return std::ranges::any_of(cluster.deviations,
                             [](const auto& deviation) { return deviation.property == kIntra; });
}

RateInside slot_of_gpu(const Cluster& cluster) {
  const GpuGeneration gpu = gpu_generation_of(cluster);
  if (in_pcie_5(cluster)) return {kPcie5Slot, kSlotDeviation};
  const bool fourth = gpu == GpuGeneration::Ampere || gpu == GpuGeneration::Cdna2;
  return {fourth ? kPcie4Slot : kPcie3Slot, kSlotDeviation};
}

bool guesses_slot(const Cluster& cluster) {
  const BytesPerSecond its = cluster.intra.bandwidth;
  return guesses_inside(cluster) && (its == kPcie3Slot || its == slot_of_gpu(cluster).bandwidth);
}

RateInside rate_of_machines(const Cluster& cluster) {
  if (in_pcie_5(cluster)) return kOnPcie5;
  return has_peer_to_peer(cluster) ? kPermitted : kThroughHost;
}

}  // namespace

bool is_pcie_card(const Cluster& cluster) {
  constexpr std::string_view kWithoutNvlink[] = {"t4", "l4", "a10", "l40", "rtx-6000-ada"};
  // A bridge joins two of these at most.
  constexpr std::string_view kBridged[] = {"a30", "a40", "rtx-a6000"};
  const std::string slug = device_slug(cluster.gpu);
  const auto is = [&](std::string_view name) {
    return slug == name || slug == std::string(name) + "s" || slug == std::string(name) + "g";
  };
  return std::ranges::any_of(kWithoutNvlink, is) ||
         (cluster.gpus_per_node > 2 &&
          (slug.ends_with("-pcie") || std::ranges::any_of(kBridged, is)));
}

bool in_pcie_5(const Cluster& cluster) {
  const GpuGeneration gpu = gpu_generation_of(cluster);
  return gpu == GpuGeneration::Hopper || gpu == GpuGeneration::Blackwell ||
         gpu >= GpuGeneration::Cdna3;
}

bool joined_by_nvlink(const Cluster& cluster) {
  constexpr BytesPerSecond kLeastOfNvlink{20e9};
  if (guesses_slot(cluster)) return false;
  if (!is_geforce(cluster.gpu)) return cluster.intra.bandwidth >= kLeastOfNvlink;
  // NCCL counts 40 GB/s for the bridge of two RTX 2080 Ti, and 48 for that of two RTX 3090.
  constexpr BytesPerSecond kMostOfSlot{32e9};
  const std::string slug = device_slug(cluster.gpu);
  const bool has_bridge = slug.starts_with("rtx-2080") || slug.starts_with("rtx-3090");
  return has_bridge && cluster.intra.bandwidth > kMostOfSlot;
}

namespace {

/// The share of its links that a GPU has to `gpus` of its node, itself included.
double share_of_links(const Cluster& node, int gpus) {
  constexpr BytesPerSecond kLeastOfMesh{60e9};  // more than a slot of PCIe 5.0
  const int all = node.gpus_per_node;
  if (gpus <= 1 || gpus >= all || node.nvlink_sharp == YesNo::Yes) return 1;
  const GpuGeneration gpu = gpu_generation_of(node);
  const bool newest_of_amd = gpu == GpuGeneration::Cdna3 || gpu == GpuGeneration::Cdna4;
  const bool by_nvlink = !is_amd(gpu) && node.intra.bandwidth >= kLeastOfMesh;
  if (!newest_of_amd && !by_nvlink) return 1;
  return all == (newest_of_amd ? 8 : 4) ? (gpus - 1.) / (all - 1) : 1;
}

}  // namespace

void leave_links(Cluster& cluster, const Cluster& whole) {
  if (cluster.intra.bandwidth != whole.intra.bandwidth) return;
  const double share = share_of_links(whole, cluster.gpus_per_node);
  if (share == 1) return;
  cluster.gpu_generation = gpu_generation_of(cluster);  // it may follow from the bandwidth
  cluster.intra.bandwidth.value *= share;
}

bool has_peer_to_peer(const Cluster& cluster) {
  const NcclSettings& settings = cluster.nccl_settings;
  if (joined_by_nvlink(cluster)) return settings.p2p();
  return settings.p2p_by_pcie() && !is_geforce(cluster.gpu);
}

void drop_deviation(Cluster& cluster, std::string_view property) {
  std::erase_if(cluster.deviations, [&](const auto& its) { return its.property == property; });
}

BytesPerSecond rate_on_pcie(const Cluster& cluster) { return rate_of_machines(cluster).bandwidth; }

bool guesses_pcie(const Cluster& cluster) {
  return guesses_slot(cluster) ||
         (guesses_inside(cluster) && cluster.intra.bandwidth == rate_on_pcie(cluster));
}

void settle_pcie(Cluster& cluster) {
  if (guesses_pcie(cluster)) take_guess_on_pcie(cluster);
}

namespace {

void take(Cluster& cluster, const RateInside& rate) {
  // The generation may follow from the bandwidth.
  const GpuGeneration gpu = gpu_generation_of(cluster);
  cluster.intra.bandwidth = rate.bandwidth;
  drop_deviation(cluster, kIntra);
  cluster.deviations.push_back({kIntra, rate.deviation});
  if (gpu_generation_of(cluster) != gpu) cluster.gpu_generation = gpu;
}

}  // namespace

void take_rate_on_pcie(Cluster& cluster) { take(cluster, rate_of_machines(cluster)); }

void take_loopback(Cluster& cluster) {
  const bool of_gpus = guesses_pcie(cluster) || cluster.intra.bandwidth >= kMostOfLoopback;
  if (!of_gpus || !cluster.nodes_alike()) return;
  take(cluster, kLoopback);
  cluster.intra.latency = kLoopbackLatency;
}

void take_guess_on_pcie(Cluster& cluster) {
  const bool alone = cluster.ranks() <= cluster.nodes;
  take(cluster, alone ? slot_of_gpu(cluster) : rate_of_machines(cluster));
}

void send_through_host(Cluster& cluster) {
  const BytesPerSecond most = cluster.intra.bandwidth;
  take_rate_on_pcie(cluster);
  cluster.intra.bandwidth = std::min(most, cluster.intra.bandwidth);
  cluster.intra.latency = std::max(cluster.intra.latency, kPcieStep);
  cluster.nvlink_sharp = YesNo::No;
}

NetworkKind network_kind_of(const Cluster& cluster) {
  constexpr Seconds kLeastOfTcp{15e-6 * (1 - 1e-9)};  // 15 us as a product is a little less
  if (cluster.network_kind != NetworkKind::Unknown) return cluster.network_kind;
  return cluster.nic.latency >= kLeastOfTcp ? NetworkKind::Tcp : NetworkKind::InfiniBand;
}

GpuGeneration generation_named(const std::string& gpu) {
  // By the compute capability, as NCCL's tables are: Ada's 8.9 counts as Ampere.
  constexpr std::pair<std::string_view, GpuGeneration> kNamed[] = {
      {"v100", GpuGeneration::Volta},         {"a100", GpuGeneration::Ampere},
      {"a800", GpuGeneration::Ampere},        {"a10", GpuGeneration::Ampere},
      {"a30", GpuGeneration::Ampere},         {"a40", GpuGeneration::Ampere},
      {"rtx-a6000", GpuGeneration::Ampere},   {"rtx-6000-ada", GpuGeneration::Ampere},
      {"l4", GpuGeneration::Ampere},          {"rtx-3090", GpuGeneration::Ampere},
      {"rtx-4090", GpuGeneration::Ampere},    {"h100", GpuGeneration::Hopper},
      {"h200", GpuGeneration::Hopper},        {"h20", GpuGeneration::Hopper},
      {"h800", GpuGeneration::Hopper},        {"gh200", GpuGeneration::Hopper},
      {"b200", GpuGeneration::Blackwell},     {"gb200", GpuGeneration::Blackwell},
      {"b300", GpuGeneration::Blackwell},     {"gb300", GpuGeneration::Blackwell},
      {"rtx-5090", GpuGeneration::Blackwell}, {"mi250x", GpuGeneration::Cdna2},
      {"mi300x", GpuGeneration::Cdna3},       {"mi355x", GpuGeneration::Cdna4}};
  const std::string slug = device_slug(gpu);
  const auto its = std::find_if(std::begin(kNamed), std::end(kNamed), [&](const auto& named) {
    return slug.starts_with(named.first) ||
           slug.starts_with("amd-instinct-" + std::string(named.first));
  });
  return its == std::end(kNamed) ? GpuGeneration::Unknown : its->second;
}

GpuGeneration gpu_generation_of(const Cluster& cluster) {
  if (cluster.gpu_generation != GpuGeneration::Unknown) return cluster.gpu_generation;
  if (const GpuGeneration named = generation_named(cluster.gpu); named != GpuGeneration::Unknown)
    return named;
  // A100's NVLinks carry 300 GB/s in each direction by its data sheet, and 240 as NCCL counts them;
  // H100's 450 and 370, B200's 900 and 722.
  const double inside = cluster.intra.bandwidth.value;
  if (inside > 600e9) return GpuGeneration::Blackwell;
  if (inside > 300e9) return GpuGeneration::Hopper;
  return inside >= 200e9 ? GpuGeneration::Ampere : GpuGeneration::Volta;
}

}  // namespace gradcast
