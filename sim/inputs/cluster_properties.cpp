#include "sim/inputs/cluster_properties.hpp"

#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

// Kinds of values: each reads and prints one.

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

struct Passes {
  static constexpr double kMost = 1000;
  static double parse(std::string_view text) {
    const double passes = parse_number(text);
    if (passes >= 0 && passes <= kMost) return passes;
    throw ValueError("'" + std::string(text) + "' is not a number from 0 to 1000, like '3.5'");
  }
  static std::string print(double passes) { return number_to_text(passes); }
};

struct Speed {
  static double parse(std::string_view text) { return parse_speed(text); }
  static std::string print(double speed) { return number_to_text(speed); }
};

/// One word of a list, in the order of the enumeration.
template <class Enum, const auto& kWords>
struct Word {
  static Enum parse(std::string_view text) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < std::size(kWords); ++i) {
      if (text == kWords[i]) return static_cast<Enum>(i);
      known.emplace_back(kWords[i]);
    }
    throw ValueError("'" + std::string(text) + "' is not one of " + join(known) +
                     did_you_mean(std::string(text), known));
  }
  static std::string print(Enum value) {
    return std::string(kWords[static_cast<std::size_t>(value)]);
  }
};

constexpr std::string_view kNetworkKinds[] = {"unknown",   "infiniband", "roce",         "efa",
                                              "slingshot", "tcp",        "gpudirect-tcp"};
constexpr std::string_view kGenerations[] = {"unknown",   "volta", "ampere", "hopper",
                                             "blackwell", "cdna2", "cdna3",  "cdna4"};
constexpr std::string_view kHostCpus[] = {"intel", "amd", "other"};
constexpr std::string_view kNoYes[] = {"no", "yes"};

/// A file's name, a GPU's, or "none".
struct Name {
  static std::string parse(std::string_view text) {
    return text == "none" ? "" : std::string(text);
  }
  static std::string print(const std::string& name) { return name.empty() ? "none" : name; }
};

/// Variables of NCCL's environment, or "none".
struct Settings {
  static NcclSettings parse(std::string_view text) { return parse_nccl_settings(text); }
  static std::string print(const NcclSettings& settings) {
    return settings.text.empty() ? "none" : settings.text;
  }
};

/// A value that may be absent: "none" or "0".
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
constexpr PropertyRow of_cluster(std::string_view name, std::string_view help, PropertyRow::Of of,
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
constexpr PropertyRow of_node(std::string_view name, std::string_view help, PropertyRow::Of of,
                              Field which, bool required = false) {
  PropertyRow property = of_cluster<Kind>(name, help, of, which, required);
  property.set_node = [](NodeProperties& node, std::string_view text) {
    Field{}(node) = Kind::parse(text);
  };
  return property;
}

constexpr auto kShape = PropertyRow::Of::Shape;
constexpr auto kNetwork = PropertyRow::Of::Network;
constexpr auto kSoftware = PropertyRow::Of::Software;

constexpr PropertyRow kProperties[] = {
    of_cluster<Count>(
        "nodes", "number of machines", kShape, [](auto& c) -> auto& { return c.nodes; }, true),
    of_node<Count>(
        "gpus_per_node", "GPUs of each node", kShape,
        [](auto& n) -> auto& { return n.gpus_per_node; }, true),
    of_node<Rate>(
        "nic_bandwidth", "bandwidth of a NIC, as one long flow reaches it, like 9.43Gbps", kNetwork,
        [](auto& n) -> auto& { return n.nic.bandwidth; }, true),
    of_node<Time>(
        "nic_latency", "latency between GPUs of two nodes, one way, like 25us", kNetwork,
        [](auto& n) -> auto& { return n.nic.latency; }),
    of_node<Count>(
        "nics_per_node", "NICs of each node; GPU i uses NIC i mod this, and its share of more",
        kNetwork, [](auto& n) -> auto& { return n.nics_per_node; }),
    of_node<Rate>(
        "intra_bandwidth", "bandwidth between GPUs of a node, like 10GBps", kNetwork,
        [](auto& n) -> auto& { return n.intra.bandwidth; }, true),
    of_node<Time>(
        "intra_latency", "latency between GPUs of a node, one way, like 5us", kNetwork,
        [](auto& n) -> auto& { return n.intra.latency; }),
    of_node<OrNone<Rate>>(
        "pcie_bandwidth",
        "bandwidth of the PCIe path that a node's GPUs share, each direction, like 12GBps, or none",
        kNetwork, [](auto& n) -> auto& { return n.pcie_bandwidth; }),
    of_node<Speed>(
        "compute_speed", "speed of a node's GPUs; 1 is the speed of the trace's GPU", kShape,
        [](auto& n) -> auto& { return n.compute_speed; }),
    of_cluster<OrNone<Count>>(
        "nodes_per_leaf", "nodes at a leaf switch; none: one switch for all", kNetwork,
        [](auto& c) -> auto& { return c.nodes_per_leaf; }),
    of_cluster<OrNone<Rate>>(
        "leaf_uplink_bandwidth",
        "bandwidth of a whole leaf to the spine, each direction, like 40Gbps", kNetwork,
        [](auto& c) -> auto& { return c.leaf_uplink_bandwidth; }),
    of_cluster<Time>(
        "leaf_uplink_latency", "latency that crossing the spine adds, one way, like 2us", kNetwork,
        [](auto& c) -> auto& { return c.leaf_uplink_latency; }),
    of_cluster<OrNone<Count>>(
        "leaves_per_pod", "leaf switches of a fat tree's pod; none: one spine for all", kNetwork,
        [](auto& c) -> auto& { return c.leaves_per_pod; }),
    of_cluster<OrNone<Rate>>(
        "pod_uplink_bandwidth",
        "bandwidth of a whole pod to the core, each direction, like 100Gbps", kNetwork,
        [](auto& c) -> auto& { return c.pod_uplink_bandwidth; }),
    of_cluster<Time>(
        "pod_uplink_latency", "latency that crossing the core adds, one way, like 2us", kNetwork,
        [](auto& c) -> auto& { return c.pod_uplink_latency; }),
    of_cluster<Percent>(
        "nic_share", "share of its NIC that the transport reaches, like 60%", kNetwork,
        [](auto& c) -> auto& { return c.nic_share; }),
    of_cluster<Name>(
        "measured_collectives",
        "CSV file of collectives' measured times, as `import` makes it of nccl-tests' logs, or "
        "none",
        kNetwork, [](auto& c) -> auto& { return c.measured_collectives; }),
    of_cluster<Word<NetworkKind, kNetworkKinds>>(
        "network_kind",
        "infiniband, roce, efa, slingshot, tcp or gpudirect-tcp; unknown: by nic_latency", kNetwork,
        [](auto& c) -> auto& { return c.network_kind; }),
    of_cluster<Word<GpuGeneration, kGenerations>>(
        "gpu_generation",
        "volta, ampere, hopper, blackwell; AMD's cdna2, cdna3, cdna4; unknown: by intra_bandwidth",
        kNetwork, [](auto& c) -> auto& { return c.gpu_generation; }),
    of_cluster<Name>(
        "gpu",
        "the GPU, as traces/devices.csv or nvidia-smi names it, for its memory and speed; none: "
        "that of gpu_generation which is usual",
        kNetwork, [](auto& c) -> auto& { return c.gpu; }),
    of_cluster<Word<HostCpu, kHostCpus>>(
        "host_cpu", "intel, amd or other, for NCCL's tables", kNetwork,
        [](auto& c) -> auto& { return c.host_cpu; }),
    of_cluster<Word<YesNo, kNoYes>>(
        "nvlink_sharp", "yes if the NVLink switch adds up (NVSwitch of HGX H100 and later)",
        kNetwork, [](auto& c) -> auto& { return c.nvlink_sharp; }),
    of_cluster<Word<YesNo, kNoYes>>(
        "network_sharp", "yes if the network's switches add up for NCCL (InfiniBand's SHARP)",
        kNetwork, [](auto& c) -> auto& { return c.network_sharp; }),
    of_cluster<Time>(
        "nccl_plugin_latency",
        "latency that NCCL's network plugin reports of itself, like 75us; 0: none", kNetwork,
        [](auto& c) -> auto& { return c.nccl_plugin_latency; }),
    of_cluster<Settings>(
        "nccl_settings",
        "variables of NCCL's environment, like 'NCCL_ALGO=Ring,Tree NCCL_P2P_DISABLE=1', or none",
        kNetwork, [](auto& c) -> auto& { return c.nccl_settings; }),
    of_cluster<Time>(
        "per_message_latency", "software time of every message, like 3us", kSoftware,
        [](auto& c) -> auto& { return c.per_message_latency; }),
    of_cluster<Time>(
        "per_collective_latency", "software time of every collective, like 10us", kSoftware,
        [](auto& c) -> auto& { return c.per_collective_latency; }),
    of_cluster<OrNone<Size>>(
        "eager_limit",
        "size from which on a receiver on another node is asked before it is sent to, like 64KiB; "
        "none: never",
        kSoftware, [](auto& c) -> auto& { return c.eager_limit; }),
    of_cluster<Time>(
        "per_tensor_negotiation", "time to agree on a tensor before its collective, like 50us",
        kSoftware, [](auto& c) -> auto& { return c.per_tensor_negotiation; }),
    of_cluster<Time>(
        "per_iteration_overhead", "software time of every iteration, like 2ms", kSoftware,
        [](auto& c) -> auto& { return c.per_iteration_overhead; }),
    of_cluster<Time>(
        "per_tensor_overhead", "time that backward spends on each gradient tensor, like 25us",
        kSoftware, [](auto& c) -> auto& { return c.per_tensor_overhead; }),
    of_cluster<Passes>(
        "shard_copy_passes",
        "how often bytes that FSDP gathers or scatters pass the GPU's memory in copies, like 3.5",
        kSoftware, [](auto& c) -> auto& { return c.shard_copy_passes; }),
    of_cluster<Percent>(
        "rank_spread", "deviation of ranks' compute times, which wait for the slowest, like 2%",
        kSoftware, [](auto& c) -> auto& { return c.rank_spread; }),
    of_cluster<Percent>(
        "communication_slowdown", "how much longer backward takes while a collective runs, like 5%",
        kSoftware, [](auto& c) -> auto& { return c.communication_slowdown; }),
    of_cluster<Percent>(
        "computing_slowdown", "how much longer a collective takes while its GPU computes, like 20%",
        kSoftware, [](auto& c) -> auto& { return c.computing_slowdown; }),
    of_cluster<Percent>(
        "late_start", "share of backward that is over before the first collective begins, like 50%",
        kSoftware, [](auto& c) -> auto& { return c.late_start; }),
    of_cluster<OrNone<Rate>>(
        "reduction_bandwidth",
        "rate at which a rank adds up what it received, like 5GBps; none: "
        "adding costs nothing",
        kSoftware, [](auto& c) -> auto& { return c.reduction_bandwidth; }),
    of_cluster<OrNone<Rate>>(
        "staging_bandwidth",
        "rate at which gathered bytes go through the host's memory, like 1GBps; none: they go from "
        "GPU to GPU",
        kSoftware, [](auto& c) -> auto& { return c.staging_bandwidth; }),
    of_cluster<OrNone<Rate>>(
        "host_bandwidth",
        "rate at which a host's CPU sends and receives beside each NIC, like 10Gbps; none: the NIC "
        "alone counts",
        kSoftware, [](auto& c) -> auto& { return c.host_bandwidth; }),
    of_cluster<Time>(
        "planner_startup", "startup time of an all-reduce that MG-WFBP's planner assumes, like 1ms",
        kSoftware, [](auto& c) -> auto& { return c.planner_startup; }),
    of_cluster<OrNone<Rate>>(
        "planner_bandwidth",
        "bandwidth of an all-reduce that MG-WFBP's planner assumes, like "
        "1GBps; none: the network's",
        kSoftware, [](auto& c) -> auto& { return c.planner_bandwidth; }),
    of_cluster<Time>(
        "forecast_deviation", "standard deviation of fitted forecasts from measurements, like 20ms",
        kSoftware, [](auto& c) -> auto& { return c.forecast_deviation; }),
    of_cluster<Percent>(
        "forecast_deviation_share", "the same as a share of the iteration, like 3%", kSoftware,
        [](auto& c) -> auto& { return c.forecast_deviation_share; }),
};

}  // namespace

std::span<const PropertyRow> property_rows() { return kProperties; }

const PropertyRow& find_property(std::string_view name) {
  std::vector<std::string> known;
  for (const PropertyRow& property : kProperties) {
    if (property.name == name) return property;
    known.emplace_back(property.name);
  }
  throw ValueError("unknown property '" + std::string(name) + "'" + did_you_mean(name, known) +
                   " (properties: " + join(known) + ")");
}

double parse_speed(std::string_view text) {
  const double speed = parse_number(text);
  if (speed >= kSlowestSpeed && speed <= 1 / kSlowestSpeed) return speed;
  throw ValueError("'" + std::string(text) +
                   "' is not a speed from 0.001 to 1000, like '0.5' for half of the trace's");
}

}  // namespace gradcast
