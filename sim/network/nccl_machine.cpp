// The machine as NCCL's search for rings and trees sees it, and RCCL's: its channels, and their
// speeds.
#include <algorithm>
#include <optional>
#include <span>

#include "sim/network/nccl_rule.hpp"
#include "sim/network/rccl_tables.hpp"

namespace gradcast {
namespace {

// The lists of speeds that NCCL's search goes through, in GB/s a channel.
constexpr double kBetween[] = {48, 30, 28, 24, 20, 18,  15,  12,  10, 9,
                               7,  6,  5,  4,  3,  2.4, 1.2, .24, .12};
constexpr double kBetweenHopper[] = {48, 45, 42, 40, 30,  24,  22,  20, 17.5,
                                     15, 12, 6,  3,  2.4, 1.2, .24, .12};
constexpr double kBetweenBlackwell[] = {96, 86,   80, 48, 45.1, 42, 40,  30,  24,  22,
                                        20, 17.5, 15, 12, 6,    3,  2.4, 1.2, .24, .12};
constexpr double kInside[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr double kInsideHopper[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr double kInsideBlackwell[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};

/// Nominal rate of a link over the goodput of one long flow.
constexpr double kNominal = 1.0625;

/// Ethernet's nominal rates, in GB/s. A host's driver says one of them whatever its flows reach: a
/// flow that reaches this share of a rate, or more, goes by a NIC of that rate.
constexpr double kEthernet[] = {.125, .3125, 1.25, 3.125, 5, 6.25, 12.5, 25, 50, 100};
constexpr double kReachedOfEthernet = .8;

/// The rate by which NCCL counts a NIC, in GB/s.
double nominal_rate(NetworkKind kind, BytesPerSecond reached) {
  const double goodput = reached.value / 1e9;
  if (kind == NetworkKind::Tcp)
    for (const double rate : kEthernet)
      if (kReachedOfEthernet * rate <= goodput && goodput <= rate) return rate;
  return kNominal * goodput;
}

double largest_within(std::span<const double> speeds, double most) {
  for (const double speed : speeds)
    if (speed <= most) return speed;
  return most;  // slower than all of NCCL's list
}

/// True if NCCL's search goes through Hopper's lists. To RCCL, AMD's GPUs have such a compute
/// capability: gfx90a is 90.
bool has_hoppers_speeds(GpuGeneration gpu) { return gpu == GpuGeneration::Hopper || is_amd(gpu); }

std::span<const double> speeds_inside(GpuGeneration gpu) {
  if (gpu == GpuGeneration::Blackwell) return kInsideBlackwell;
  if (has_hoppers_speeds(gpu)) return kInsideHopper;
  return kInside;
}

std::span<const double> speeds_between(GpuGeneration gpu) {
  if (gpu == GpuGeneration::Blackwell) return kBetweenBlackwell;
  if (has_hoppers_speeds(gpu)) return kBetweenHopper;
  return kBetween;
}

/// Trees of two nodes count on the speed inside nodes. The search raises it from the one between
/// them, a speed of its list after another, until it is twice as fast or more
/// (src/graph/search.cc: pass 2 of ncclTopoCompute).
BytesPerSecond raised_in_trees(const NcclMachine& machine) {
  const std::span<const double> list = speeds_between(machine.gpu);
  BytesPerSecond raised = machine.between;
  for (std::size_t i = list.size(); i-- > 0;) {
    const BytesPerSecond next{1e9 * list[i]};
    if (next.value <= raised.value) continue;
    if (raised.value >= 2 * machine.between.value || next.value > machine.inside.value) break;
    raised = next;
  }
  return raised;
}

constexpr int kMostChannels = 12;
/// CollNet refuses nodes with more GPUs (src/init.cc: NCCL_MAX_DIRECT_ARITY + 1).
constexpr int kMostOfCollNet = 8;
/// GPUs of a node that has an NVSwitch, from Ampere on. Four are wired to each other.
constexpr int kLeastOfNvSwitch = 8;
/// The first version with CollNetDirect and CollNetChain.
constexpr NcclVersion kCollNetInTwo{2, 14, 0};

int nics_near(const Cluster& cluster, int gpus_per_node) {
  return cluster.nics_per_node * gpus_per_node / std::max(1, cluster.gpus_per_node);
}

/// NCCL lays channels of fast links twice, each at half the speed (src/graph/search.cc:
/// ncclTopoDupChannels). What a GPU passes on at most is by channel, and so is twice as much.
int times_laid(const NcclMachine& machine) {
  if (machine.rccl != nullptr) return 1;
  constexpr double kFast = 25e9;
  constexpr double kFaster = 50e9;
  constexpr int kFew = 4;
  constexpr int kMost = 16;                    // channels of a search
  const double speed = machine.between.value;  // both are the same until channels are laid
  const bool enough =
      machine.gpu >= GpuGeneration::Hopper && speed < kFaster && machine.channels > kFew;
  return speed < kFast || enough || 2 * machine.channels > kMost ? 1 : 2;
}

/// RCCL's source lists the rings of many nodes. There RCCL counts on the xGMI links alone, and its
/// table says how much less the network leaves of them. On other nodes it searches as NCCL does.
void see_as_rccl(NcclMachine& machine, const Cluster& cluster) {
  machine.rccl = &rccl_default_table();
  const int nics = machine.nodes == 1 ? 0 : nics_near(cluster, machine.gpus_per_node);
  const std::optional<RcclNode> node = rccl_node(machine.gpu, machine.gpus_per_node, nics);
  machine.ll128 = machine.ll128 && node && node->ll128;
  if (!node) return;
  machine.rccl = node->table;
  machine.channels = node->rings;
  machine.inside = machine.between = {node->links.value / node->rings};
  machine.same_channels = true;
}

/// NCCL takes LL128 between nodes where a PCIe switch joins GPUs and NICs (src/graph/tuning.cc).
/// Sockets go by the host. So do Slingshot's NICs, which have a way of their own to the CPU: on
/// Polaris GPUs are PHB and SYS away from them. A GH200's own way to its CPU counts from 2.27 on
/// (an H100 beside another CPU is taken to be one).
bool has_ll128_between(NetworkKind kind, GpuGeneration gpu, const NcclVersion& version) {
  constexpr NcclVersion kByOwnCpu{2, 27, 0};
  if (kind == NetworkKind::Tcp) return false;
  return kind != NetworkKind::Slingshot || (gpu >= GpuGeneration::Hopper && version >= kByOwnCpu);
}

}  // namespace

BytesPerSecond nccl_channel_speed(BytesPerSecond reached, NetworkKind kind, GpuGeneration gpu,
                                  double nics) {
  return {1e9 * largest_within(speeds_between(gpu), nics * nominal_rate(kind, reached))};
}

NcclMachine nccl_machine(const Cluster& cluster, const NcclVersion& version, int nodes,
                         int gpus_per_node) {
  NcclMachine machine;
  machine.version = version;
  machine.gpu = gpu_generation_of(cluster);
  machine.cpu = cluster.host_cpu;
  machine.nodes = nodes;
  machine.gpus_per_node = gpus_per_node;
  machine.plugin_latency = cluster.nccl_plugin_latency;
  machine.nvlink = joined_by_nvlink(cluster) && cluster.nccl_settings.p2p();
  machine.ll128 = machine.nvlink &&
                  (nodes == 1 || has_ll128_between(network_kind_of(cluster), machine.gpu, version));
  machine.settings = cluster.nccl_settings;
  if (is_amd(machine.gpu)) {
    see_as_rccl(machine, cluster);
    if (machine.same_channels) return machine;
  }
  const bool sharp = cluster.nvlink_sharp == YesNo::Yes && has_peer_to_peer(cluster);
  machine.nvls = sharp && machine.settings.nvls && machine.gpu >= GpuGeneration::Hopper &&
                 machine.rccl == nullptr;
  machine.nvswitch = sharp || (machine.nvlink && machine.gpu >= GpuGeneration::Ampere &&
                               cluster.gpus_per_node >= kLeastOfNvSwitch);
  machine.collnet = machine.rccl == nullptr && cluster.network_sharp == YesNo::Yes &&
                    machine.settings.collnet && nodes > 1 &&
                    nodes >= machine.settings.collnet_nodes && gpus_per_node <= kMostOfCollNet &&
                    version >= kCollNetInTwo;

  const double inside = kNominal * cluster.intra.bandwidth.value / 1e9;  // of a GPU
  const std::span<const double> speeds = speeds_inside(machine.gpu);
  if (nodes == 1) {
    // As many channels as the GPU's links carry, at the speed that uses most of them.
    double most = 0;
    machine.inside = cluster.intra.bandwidth;
    for (const double speed : speeds) {
      const int channels = std::min(kMostChannels, static_cast<int>(inside / speed));
      if (channels * speed <= most) continue;
      most = channels * speed;
      machine.channels = channels;
      machine.inside = {1e9 * speed};
    }
    machine.between = machine.inside;
    machine.times_laid = times_laid(machine);
    return machine;
  }
  // A channel for each NIC that these GPUs have near them.
  machine.nics = nics_near(cluster, gpus_per_node);
  machine.channels = std::clamp(machine.nics, 1, gpus_per_node);
  const double nics_of_channel = std::max(1.0, double(machine.nics) / machine.channels);
  machine.between = nccl_channel_speed(cluster.nic.bandwidth, network_kind_of(cluster), machine.gpu,
                                       nics_of_channel);
  // A rack's NICs are more than its GPUs' links can fill.
  if (machine.nvlink && gpus_per_node > kMostOfHost)
    machine.channels =
        std::clamp(static_cast<int>(1e9 * inside / machine.between.value), 1, machine.channels);
  machine.times_laid = times_laid(machine);
  machine.inside =
      gpus_per_node == 1
          ? machine.between
          : std::max(machine.between,
                     BytesPerSecond{1e9 * largest_within(speeds, inside / machine.channels)});
  if (nodes == 2) machine.in_trees = raised_in_trees(machine);
  return machine;
}

}  // namespace gradcast
