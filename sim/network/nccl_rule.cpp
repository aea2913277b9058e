#include "sim/network/nccl_rule.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/network/nccl_of_torch.hpp"
#include "sim/network/nccl_tables.hpp"
#include "sim/network/rccl_tables.hpp"

namespace gradcast {
namespace {

// Rates are in GB/s, as in NCCL's tables.

using nccl_tables::ByProtocol;
using nccl_tables::kProtocols;
using nccl_tables::Library;
using nccl_tables::since;
using ByNodes = std::array<double, 3>;  // 1, 2, more

constexpr double kNone = std::numeric_limits<double>::infinity();

std::size_t index(NcclProtocol protocol) { return static_cast<std::size_t>(protocol); }

std::size_t row(GpuGeneration gpu) {
  return gpu == GpuGeneration::Unknown ? 0 : static_cast<std::size_t>(gpu) - 1;
}

std::size_t column(int nodes) { return static_cast<std::size_t>(std::min(nodes, 3) - 1); }

int floor_log2(std::int64_t number) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number))) - 1;
}

constexpr std::array<ByNodes, 4> kMostLL = {
    {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
constexpr std::array<ByNodes, 4> kTreeOfChannel = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
constexpr std::array<ByNodes, 4> kTree128OfChannel = {
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
constexpr std::array<double, 4> kRing128OfChannel = {20, 20, 36.7, 40};
constexpr std::array<ByNodes, 4> kNvlsTreeOfChannel = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}}};

/// A tree's pipeline is not full at these sizes: from 64 bytes on, by powers of two.
constexpr std::size_t kCorrections = 23;
constexpr std::array<std::array<double, kCorrections>, kProtocols> kTreeCorrection = {
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};

double tree_correction(NcclProtocol protocol, Bytes bytes) {
  if (bytes.count < 64) return 1;
  const auto size = static_cast<std::size_t>(floor_log2(bytes.count / 64));
  return size < kCorrections ? kTreeCorrection[index(protocol)][size] : 1;
}

/// The most that LL reaches. Over several nodes NCCL looks the table up by the host's CPU.
double most_ll(const NcclMachine& machine) {
  if (machine.nodes == 1) {
    const std::size_t newest = since(machine.version, 21) ? 3 : 1;  // Hopper's row came later
    return kMostLL[std::min(row(machine.gpu), newest)][0];
  }
  return kMostLL[machine.cpu == HostCpu::Amd ? 1 : 0][column(machine.nodes)];
}

double bus_of(const NcclMachine& machine, BytesPerSecond channel) {
  const double bus = machine.channels * channel.value / 1e9;
  if (since(machine.version, 18)) return bus;
  return std::min(bus, machine.gpu == GpuGeneration::Ampere   ? 235.0
                       : machine.gpu == GpuGeneration::Hopper ? 370.0
                                                              : kNone);
}

double bus_of(const NcclMachine& machine) {
  return bus_of(machine, machine.nodes <= 2 ? machine.inside : machine.between);
}

/// An estimate counts what links carry and what GPUs pass on at most, or one of the two.
enum class Limits { Both, OfLinks, OfGpus };

double of_links(double bus, Limits limits) { return limits == Limits::OfGpus ? kNone : bus; }

double at_most(double bus, double of_gpus, Limits limits) {
  return limits == Limits::OfLinks ? bus : std::min(bus, of_gpus);
}

double ring_bandwidth(const NcclMachine& machine, Outcome outcome, NcclProtocol protocol,
                      Bytes bytes, Limits limits) {
  // A ring crosses the network at every node, so that its speed is the network's on two as well.
  const BytesPerSecond channel =
      machine.nodes == 1 ? machine.inside : std::min(machine.inside, machine.between);
  double bus = machine.channels * channel.value / 1e9;
  if (!since(machine.version, 18)) bus = std::min(bus, bus_of(machine));
  bus = of_links(bus, limits);
  if (machine.rccl != nullptr) {
    bus *= rccl_share(machine, NcclAlgorithm::Ring, protocol, outcome, bytes);
  } else if (protocol == NcclProtocol::LL) {
    const bool fourth = machine.nodes > 1 || outcome == Outcome::AllReduced;
    bus /= since(machine.version, 21) ? 2 : fourth ? 4 : 3;
    if (since(machine.version, 8)) bus = at_most(bus, most_ll(machine), limits);
  } else if (protocol == NcclProtocol::LL128) {
    const bool narrow = !since(machine.version, 23) && machine.gpus_per_node < 2;
    bus = at_most((narrow ? .7 : .92) * bus,
                  machine.channels_laid() * kRing128OfChannel[row(machine.gpu)], limits);
  }
  return bus * machine.ranks() / ring_steps(outcome, machine.ranks());
}

double tree_bandwidth(const NcclMachine& machine, NcclProtocol protocol, Bytes bytes,
                      Limits limits) {
  if (machine.rccl != nullptr)
    return bus_of(machine) / 2 *
           rccl_share(machine, NcclAlgorithm::Tree, protocol, Outcome::AllReduced, bytes);
  const std::size_t gpu = row(machine.gpu);
  const std::size_t nodes = column(machine.nodes);
  // NCCL chooses by what its search counts on. Bytes take what the links carry.
  const bool counted = limits == Limits::Both && machine.in_trees.value > 0;
  const double links = counted ? bus_of(machine, machine.in_trees) : bus_of(machine);
  double bus = at_most(.92 * of_links(links, limits),
                       machine.channels_laid() * kTreeOfChannel[gpu][nodes], limits);
  if (protocol == NcclProtocol::LL)
    bus = at_most(bus / 3.8, most_ll(machine), limits);
  else if (protocol == NcclProtocol::LL128)
    bus = at_most(bus * (machine.nodes == 1 ? 7. / 9 : 120. / 128),
                  machine.channels_laid() * kTree128OfChannel[gpu][nodes], limits);
  if (machine.plain_trees && since(machine.version, 18)) bus *= .85;
  return bus / 2 * tree_correction(protocol, bytes);
}

/// The NVLink switch adds up inside nodes; between them there is a tree.
double nvls_bandwidth(const NcclMachine& machine, NcclAlgorithm algorithm, Outcome outcome) {
  const double channels = machine.channels;
  const double inside = machine.inside.value / 1e9;
  const double between = machine.nodes == 1 ? kNone : machine.between.value / 1e9;
  const bool tree = algorithm == NcclAlgorithm::NvlsTree;
  if (!since(machine.version, 28)) {
    const double of_network = tree && machine.nodes > 2 ? between / 2 : between;
    const bool rated = outcome == Outcome::AllReduced || !since(machine.version, 23);
    const double share = !rated ? 1 : since(machine.version, 18) ? 5. / 6 : .75;
    return channels * std::min(inside, of_network) * share;
  }
  const double efficiency = machine.gpu == GpuGeneration::Blackwell ? .74 : .85;
  const double members = machine.gpus_per_node;
  const double both_ways = outcome == Outcome::AllReduced ? 2 : (members - 1) / members;
  double bus = channels * std::min(inside * efficiency * (channels - 1) / channels * both_ways,
                                   between * (tree && machine.nodes <= 2 ? 2 : 1));
  if (tree)
    bus = std::min(bus, channels * kNvlsTreeOfChannel[row(machine.gpu)][column(machine.nodes)]);
  return bus * machine.ranks() / ring_steps(outcome, machine.ranks());
}

/// In NCCL's estimate the network's switches cost no bandwidth: the links inside nodes bound it.
double collnet_bandwidth(const NcclMachine& machine, NcclAlgorithm algorithm, Outcome outcome) {
  if (outcome != Outcome::AllReduced) {
    const double share = collnet_parts_share(machine.version, machine.gpus_per_node);
    const double inside = machine.inside.value / 1e9;
    const double between = machine.between.value / 1e9;
    return machine.gpus_per_node *
           (since(machine.version, 26) ? std::min(inside, share * between) : share * inside);
  }
  double bus = bus_of(machine, machine.inside);
  if (algorithm == NcclAlgorithm::CollNetDirect) {
    // A GPU without a NIC of its own passes all of its buffer to those that have one.
    bus /= (double(machine.gpus_per_node) / machine.channels + 1) / 2;
    if (row(machine.gpu) >= 2 && since(machine.version, 18)) bus *= .85;
  } else if (!since(machine.version, 18)) {
    bus *= .75;
  }
  return bus / 2;
}

double bandwidth_of(const NcclMachine& machine, NcclAlgorithm algorithm, NcclProtocol protocol,
                    Outcome outcome, Bytes bytes, Limits limits) {
  switch (algorithm) {
    case NcclAlgorithm::Tree:
      return tree_bandwidth(machine, protocol, bytes, limits);
    case NcclAlgorithm::Ring:
      return ring_bandwidth(machine, outcome, protocol, bytes, limits);
    case NcclAlgorithm::Nvls:
    case NcclAlgorithm::NvlsTree:
      return nvls_bandwidth(machine, algorithm, outcome);
    case NcclAlgorithm::Pat:
      return pat_share(machine.version) * bus_of(machine);
    case NcclAlgorithm::CollNetDirect:
    case NcclAlgorithm::CollNetChain:
      return collnet_bandwidth(machine, algorithm, outcome);
    case NcclAlgorithm::P2p:
      break;
  }
  return 0;
}

bool is_collnet(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::CollNetDirect || algorithm == NcclAlgorithm::CollNetChain;
}

/// The algorithm by whose time NCCL's tables count a step between nodes. Nodes of one GPU have
/// nothing to do meanwhile, and take a tree's.
NcclAlgorithm network_of(const NcclMachine& machine, NcclAlgorithm algorithm,
                         const NcclVersion& version) {
  const bool waits = algorithm == NcclAlgorithm::Ring || is_collnet(algorithm);
  const bool alone = machine.gpus_per_node == 1 && since(version, 23);
  return waits && alone ? NcclAlgorithm::Tree : algorithm;
}

double latency_of(const NcclMachine& machine, NcclAlgorithm algorithm, NcclProtocol protocol,
                  Outcome outcome, Bytes bytes) {
  const std::size_t p = index(protocol);
  const NcclVersion& version = machine.version;
  const Library library{version, machine.rccl};
  const double base = nccl_tables::base_latency(library, algorithm)[p];
  double inside = nccl_tables::latency_inside(library, algorithm, machine.nvlink)[p];
  if (!since(version, 18) && machine.nodes > 1 && protocol == NcclProtocol::LL) inside *= 1.8;
  // Plugins can say it since 2.12 (ncclNetProperties_v5). Until 2.17 it replaces that of the table.
  const double plugin = since(version, 12)
                            ? machine.plugin_latency.count() * 1e6 /
                                  (algorithm == NcclAlgorithm::Pat ? kPatStepsAtOnce : 1)
                            : 0;
  const double of_table =
      nccl_tables::latency_between(library, network_of(machine, algorithm, version))[p];
  const double between = since(version, 18)
                             ? of_table + (protocol == NcclProtocol::Simple ? 2 : 1) * plugin
                         : plugin > 0 ? plugin
                                      : of_table;
  const int levels = floor_log2(machine.nodes);
  switch (algorithm) {
    case NcclAlgorithm::Tree:
      return base + 2 * ((machine.gpus_per_node - 1) * inside + levels * between);
    case NcclAlgorithm::Ring: {
      const double steps = ring_steps(outcome, machine.ranks());
      if (outcome == Outcome::Broadcast) {
        // NCCL counts one step where all channels take the same way.
        const NcclAlgorithm as =
            protocol == NcclProtocol::Simple ? NcclAlgorithm::Tree : NcclAlgorithm::Ring;
        if (machine.nodes == 1) return base + inside;
        if (machine.channels == 1 || machine.same_channels)
          return base + nccl_tables::latency_between(library, algorithm)[p];
        return base + steps * nccl_tables::latency_between(library, as)[p];
      }
      const int crossings = outcome != Outcome::AllReduced ? machine.nodes - 1
                            : since(version, 23)           ? 2 * (machine.nodes - 1)
                                                           : 2 * machine.nodes;
      const double across = machine.nodes == 1 ? 0 : crossings;
      const double latency =
          base +
          (steps - across) * std::max(inside, nccl_tables::post_overhead(machine, protocol)) +
          across * between;
      const bool plateau =
          machine.rccl == nullptr && protocol == NcclProtocol::Simple &&
          outcome == Outcome::AllReduced && machine.nodes > 1 &&
          (since(version, 18)
               ? bytes.count / (std::int64_t{machine.channels_laid()} * machine.ranks()) >= 64
               : bytes.count >= machine.ranks() * (std::int64_t{64} << 10) / 16);
      if (!plateau) return latency;
      if (since(version, 18)) return latency * (row(machine.gpu) == 0 ? 1.9 : 1.4);
      return latency * (machine.gpu >= GpuGeneration::Hopper ? 1.5 : 1.9);
    }
    case NcclAlgorithm::Nvls:
      return base + inside + (machine.nodes > 1 ? between : 0);
    case NcclAlgorithm::NvlsTree:
      return base + inside + 2 * levels * between;
    case NcclAlgorithm::CollNetDirect:
      return base + 2 * (machine.gpus_per_node > 1 ? inside : 0) +
             collnet_turns(version, machine.gpus_per_node).count() * 1e6 + between;
    case NcclAlgorithm::CollNetChain:
      return base + 2 * (machine.gpus_per_node - 1) * inside + (since(version, 18) ? between : 0);
    case NcclAlgorithm::Pat:
      return base + levels * between + machine.ranks() * (kPatOfPart.count() * 1e6);
    case NcclAlgorithm::P2p:
      break;
  }
  return base;
}

/// True if NCCL_ALGO and NCCL_PROTO allow it. NCCL keeps the ring for all but all-reduces, so that
/// programs run with NCCL_ALGO=Tree.
bool is_allowed(const NcclSettings& settings, NcclAlgorithm algorithm, NcclProtocol protocol,
                Outcome outcome) {
  constexpr std::string_view kAlgorithms[] = {"tree", "ring", "nvls",          "nvlstree",
                                              "pat",  "",     "collnetdirect", "collnetchain"};
  constexpr std::string_view kProtocols[] = {"ll", "ll128", "simple"};
  const auto holds = [](const std::vector<std::string>& list, std::string_view name) {
    return list.empty() || std::ranges::find(list, name) != list.end();
  };
  const bool stays = algorithm == NcclAlgorithm::Ring && outcome != Outcome::AllReduced;
  return (stays || holds(settings.algorithms, kAlgorithms[static_cast<std::size_t>(algorithm)])) &&
         holds(settings.protocols, kProtocols[index(protocol)]);
}

/// Until 2.3 NCCL had rings alone (a maintainer on NVIDIA/nccl-tests#196: trees came with 2.4).
/// From 2.1 on it took LL below this size (a log of 2.2.12 in horovod/horovod#288). The limit
/// of 2.3 depends on the ranks (NVIDIA's manual in tensorflow/tensorflow#34638) and is not known
/// here: 2.2's stands for it. From 2.4 to 2.6 a threshold chose that nobody here has read.
constexpr int kFirstWithTrees = 4;
constexpr Bytes kRingsInLLBelow{16 << 10};

bool is_possible(const NcclMachine& machine, NcclAlgorithm algorithm, NcclProtocol protocol,
                 Outcome outcome) {
  if (protocol == NcclProtocol::LL128 && !machine.ll128) return false;
  if (!since(machine.version, kFirstWithTrees))
    return algorithm == NcclAlgorithm::Ring &&
           (protocol == NcclProtocol::Simple ||
            (protocol == NcclProtocol::LL && since(machine.version, 1)));
  switch (algorithm) {
    case NcclAlgorithm::Ring:
      return true;
    case NcclAlgorithm::P2p:
      return false;
    case NcclAlgorithm::Tree:
      return outcome == Outcome::AllReduced &&
             (machine.rccl == nullptr || rccl_has_tree(machine, protocol));
    case NcclAlgorithm::Nvls:  // over several nodes it needs a network that adds up too
      if (machine.nodes > 1 &&
          !(machine.collnet && outcome == Outcome::AllReduced && since(machine.version, 18)))
        return false;
      if (outcome != Outcome::AllReduced && machine.gpus_per_node > kMostHeads) return false;
      return machine.nvls && protocol == NcclProtocol::Simple && outcome != Outcome::Broadcast &&
             machine.gpus_per_node > 2 && since(machine.version, 17);
    case NcclAlgorithm::NvlsTree:
      return machine.nvls && protocol == NcclProtocol::Simple && machine.nodes > 1 &&
             machine.gpus_per_node > 2 && outcome == Outcome::AllReduced &&
             since(machine.version, 18);
    case NcclAlgorithm::Pat:  // RCCL has it, and takes it only where NCCL_PAT_ENABLE says so
      return machine.rccl == nullptr &&
             (outcome == Outcome::AllGathered || outcome == Outcome::Scattered) &&
             protocol == NcclProtocol::Simple && machine.nodes > 1 && machine.gpus_per_node == 1 &&
             since(machine.version, 23);
    case NcclAlgorithm::CollNetDirect:
      if (!machine.collnet || !machine.nvswitch || protocol != NcclProtocol::Simple) return false;
      if (outcome == Outcome::AllReduced) return true;
      return (outcome == Outcome::AllGathered || outcome == Outcome::Scattered) &&
             machine.channels >= machine.gpus_per_node && since(machine.version, 20);
    case NcclAlgorithm::CollNetChain:
      return machine.collnet && protocol == NcclProtocol::Simple && outcome == Outcome::AllReduced;
  }
  return false;
}

/// The largest send or receive in LL (src/enqueue.cc: NCCL_P2P_LL_THRESHOLD).
constexpr Bytes kMostLLOfP2p{16 << 10};

/// RCCL keeps the algorithm of the least time, and may give it another protocol by the size.
void put_rccls_first(const NcclMachine& machine, Outcome outcome, Bytes bytes,
                     std::vector<NcclEstimate>& sorted) {
  const std::optional<NcclProtocol> protocol = rccl_protocol(machine, outcome, bytes);
  if (!protocol) return;
  const auto its = std::find_if(sorted.begin(), sorted.end(), [&](const NcclEstimate& each) {
    return each.algorithm == sorted.front().algorithm && each.protocol == *protocol;
  });
  if (its != sorted.end()) std::rotate(sorted.begin(), its, its + 1);
}

/// The version whose steps the times on the cluster's links are made of.
constexpr NcclVersion kNewest{2, 30, 0};

}  // namespace

NcclVersion parse_nccl_version(std::string_view text) {
  if (text.starts_with(kTorchPrefix)) return nccl_of_torch(text.substr(kTorchPrefix.size()));
  const std::vector<std::string> parts = split_words(std::string(text), '.');
  const auto wrong = [&] {
    return ValueError(
        "'" + std::string(text) +
        "' is not a version of NCCL whose choice is known: from 2.7 on, like '2.27' or "
        "'2.27.5', or 2.0 to 2.3; nor of PyTorch, like 'torch-2.5'");
  };
  if (parts.size() < 2 || parts.size() > 3) throw wrong();
  NcclVersion version{0, 0, 0};
  try {
    version.major = parse_count(parts[0]);
    if (parts[1] != "0") version.minor = parse_count(parts[1]);
    if (parts.size() == 3 && parts[2] != "0") version.patch = parse_count(parts[2]);
  } catch (const ValueError&) {
    throw wrong();
  }
  if (version.major != 2 || (since(version, kFirstWithTrees) && !since(version, 7))) throw wrong();
  return version;
}

std::string to_text(const NcclVersion& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) +
         (version.patch == 0 ? "" : "." + std::to_string(version.patch));
}

std::string_view library_name(const Cluster& cluster) {
  return is_amd(gpu_generation_of(cluster)) ? "RCCL" : "NCCL";
}

std::string_view to_text(NcclAlgorithm algorithm) {
  constexpr std::string_view kNames[] = {"tree", "ring", "nvls",           "nvls-tree",
                                         "pat",  "p2p",  "collnet-direct", "collnet-chain"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::string_view to_text(NcclProtocol protocol) {
  constexpr std::string_view kNames[] = {"LL", "LL128", "Simple"};
  return kNames[index(protocol)];
}

std::vector<NcclEstimate> nccl_estimates(const NcclMachine& machine, Outcome outcome, Bytes bytes) {
  std::vector<NcclEstimate> all;
  if (outcome == Outcome::Passed) {
    if (machine.rccl == nullptr && !since(machine.version, 7))
      throw ValueError("NCCL " + to_text(machine.version) +
                       " has no send-receive: name a version (nccl) from 2.7 on");
    const bool small = bytes <= kMostLLOfP2p;
    return {{NcclAlgorithm::P2p, small ? NcclProtocol::LL : NcclProtocol::Simple}};
  }
  for (const NcclAlgorithm algorithm :
       {NcclAlgorithm::Tree, NcclAlgorithm::Ring, NcclAlgorithm::CollNetDirect,
        NcclAlgorithm::CollNetChain, NcclAlgorithm::Nvls, NcclAlgorithm::NvlsTree,
        NcclAlgorithm::Pat})
    for (const NcclProtocol protocol :
         {NcclProtocol::LL, NcclProtocol::LL128, NcclProtocol::Simple}) {
      if (!is_possible(machine, algorithm, protocol, outcome) ||
          !is_allowed(machine.settings, algorithm, protocol, outcome))
        continue;
      const Seconds latency{1e-6 * latency_of(machine, algorithm, protocol, outcome, bytes)};
      const auto by = [&](Limits limits) {
        return BytesPerSecond{1e9 *
                              bandwidth_of(machine, algorithm, protocol, outcome, bytes, limits)};
      };
      const BytesPerSecond bandwidth = by(Limits::Both);
      if (!(bandwidth.value > 0)) continue;
      all.push_back({algorithm, protocol, latency, bandwidth, latency + bytes / bandwidth,
                     by(Limits::OfLinks), by(Limits::OfGpus)});
    }
  if (all.empty())
    throw ValueError("'" + machine.settings.text + "' leaves NCCL " + to_text(machine.version) +
                     " no algorithm and protocol that this machine has");
  std::stable_sort(all.begin(), all.end(),
                   [](const NcclEstimate& a, const NcclEstimate& b) { return a.time < b.time; });
  if (machine.rccl != nullptr) put_rccls_first(machine, outcome, bytes, all);
  if (!since(machine.version, kFirstWithTrees))
    std::stable_partition(all.begin(), all.end(), [bytes](const NcclEstimate& each) {
      return each.protocol == (bytes < kRingsInLLBelow ? NcclProtocol::LL : NcclProtocol::Simple);
    });
  return all;
}

Seconds collnet_turns(const NcclVersion& version, int gpus_per_node) {
  return Seconds{1e-6 * 2 * (gpus_per_node - 1) * (since(version, 19) ? .4 : .5)};
}

double collnet_parts_share(const NcclVersion& version, int gpus_per_node) {
  if (since(version, 26)) return .9;
  const double to_eight = (gpus_per_node - 1) / 7.;
  return to_eight * .85 + (1 - to_eight) * .95;
}

double pat_share(const NcclVersion& version) { return since(version, 24) ? .75 : .85; }

double ring_steps(Outcome outcome, int ranks) {
  if (outcome == Outcome::Broadcast || outcome == Outcome::Passed) return ranks;
  return outcome == Outcome::AllReduced ? 2.0 * (ranks - 1) : ranks - 1;
}

NcclStep nccl_step(const NcclMachine& machine, NcclAlgorithm algorithm, NcclProtocol protocol) {
  const std::size_t p = index(protocol);
  // In NCCL's estimate steps inside a node wait for the host that posts a network operation. GPUs
  // do not.
  const Library library{kNewest, machine.rccl};
  const double inside = nccl_tables::latency_inside(library, algorithm, machine.nvlink)[p];
  const double between =
      nccl_tables::latency_between({kNewest}, network_of(machine, algorithm, kNewest))[p];
  const bool direct = algorithm == NcclAlgorithm::CollNetDirect;
  const Seconds turns = direct ? collnet_turns(kNewest, machine.gpus_per_node) : Seconds{0};
  return {Seconds{1e-6 * nccl_tables::base_latency(library, algorithm)[p]} + turns,
          Seconds{1e-6 * inside}, Seconds{1e-6 * between}};
}

}  // namespace gradcast
