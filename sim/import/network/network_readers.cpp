// The reader of measurements of a cluster, as readers.def names it: several files make one cluster.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"
#include "sim/import/network/derived_links.hpp"
#include "sim/import/network/joined_facts.hpp"
#include "sim/import/network/log_words.hpp"
#include "sim/import/network/network_facts.hpp"
#include "sim/import/readers.hpp"
#include "sim/inputs/cluster_faults.hpp"
#include "sim/inputs/cluster_properties.hpp"

namespace gradcast {

std::string noted_name(const TextFile& file) {
  return shortened(clean_text(one_line(file.path.filename().string())), 60);
}

SaidRanks::SaidRanks(const SaidLayout& said)
    : nodes(said.nodes.value_or(1)), gpus(said.gpus_per_node.value_or(1)) {
  const std::int64_t ranks = std::int64_t{nodes} * gpus;
  if (ranks < 2 || ranks > kMostRanks)
    throw UsageError("a collective of " + std::to_string(ranks) +
                     " ranks: --nodes and --gpus-per-node say 2 to " + std::to_string(kMostRanks));
}

namespace import_readers {
namespace {

struct NetworkFormat {
  bool (*recognises)(std::string_view begin);
  NetworkFacts (*read)(const TextFile& file, const SaidLayout& said);
};

constexpr std::array kFormats = {
    NetworkFormat{is_nccl_tests, read_nccl_tests},
    NetworkFormat{is_nccl_tests_json, [](const TextFile& file,
                                         const SaidLayout&) { return read_nccl_tests_json(file); }},
    NetworkFormat{is_osu, read_osu},
    NetworkFormat{is_iperf3,
                  [](const TextFile& file, const SaidLayout&) { return read_iperf3(file); }},
    NetworkFormat{is_gpu_topology,
                  [](const TextFile& file, const SaidLayout&) { return read_gpu_topology(file); }}};

/// A ring step in NCCL's own model (src/graph/tuning.cc), in place of what was not measured.
constexpr Seconds kNvlinkStep{3.4e-6};
constexpr Seconds kNetworkStep{9.6e-6};
/// A step over EFA: the geometric mean of 47 and 63 us, as two logs were read before it was known
/// that ranks of a ring wait. The second is 49 us since (platforms/aws-p5-48xlarge.csv).
constexpr Seconds kEfaStep{54e-6};
/// A message over TCP between two hosts (platforms/10gbe.csv has its source).
constexpr Seconds kTcpStep{26.6e-6};

GpuGeneration generation_of(const std::string& device) {
  const auto has = [&](const char* word) { return device.find(word) != std::string::npos; };
  if (has("B200") || has("B300") || has("B100")) return GpuGeneration::Blackwell;
  if (has("H100") || has("H200") || has("H800") || has("H20")) return GpuGeneration::Hopper;
  if (has("A100") || has("A800") || has("A10") || has("A40") || has("A30"))
    return GpuGeneration::Ampere;
  if (has("V100")) return GpuGeneration::Volta;
  if (has("MI350") || has("MI355")) return GpuGeneration::Cdna4;
  if (has("MI300") || has("MI308") || has("MI325")) return GpuGeneration::Cdna3;
  if (has("MI210") || has("MI250")) return GpuGeneration::Cdna2;
  return GpuGeneration::Unknown;
}

/// A10, A10G, A30, A40 and RTX A4000 reach each other by PCIe, as cards named so do.
bool has_nvlink(const std::string& device) {
  const GpuGeneration generation = generation_of(device);
  const auto has = [&](const char* word) { return device.find(word) != std::string::npos; };
  if (generation == GpuGeneration::Ampere && !has("A100") && !has("A800")) return false;
  return generation != GpuGeneration::Unknown && !has("PCI");
}

/// xGMI links as RCCL counts them (ROCm/rccl@08814b0, src/graph/topo.h): seven of 48 GB/s from each
/// of eight MI300X, and one of 36 GB/s under each of the four rings that it lays through MI250X.
constexpr double kRccls7Links = 336e9;
constexpr double kRccls4Rings = 144e9;

/// NVLinks as NCCL counts them (src/graph/topo.h), AMD's links as RCCL does.
BytesPerSecond inside_of(const std::string& device) {
  switch (generation_of(device)) {
    case GpuGeneration::Blackwell:
      return {721.8e9};
    case GpuGeneration::Hopper:
      return {370.8e9};
    case GpuGeneration::Ampere:
      return {240e9};
    case GpuGeneration::Cdna2:
      return {kRccls4Rings};
    case GpuGeneration::Cdna3:
    case GpuGeneration::Cdna4:
      return {kRccls7Links};
    case GpuGeneration::Volta:
    case GpuGeneration::Unknown:
      break;
  }
  return {120e9};
}

/// The generation of the GPUs whose NVLinks a matrix counts. Ampere has 12, and older ones fewer.
GpuGeneration nvlink_generation(const NetworkFacts& facts) {
  constexpr int kMostOfAmpere = 12;
  const GpuGeneration named = generation_of(facts.device);
  const bool later = named == GpuGeneration::Unknown && facts.nvlinks.value_or(0) > kMostOfAmpere;
  return later ? GpuGeneration::Hopper : named;
}

/// An NVLink of such a GPU as NCCL counts it (src/graph/topo.h).
BytesPerSecond nvlink_of(GpuGeneration generation) {
  if (generation == GpuGeneration::Blackwell) return {40.1e9};
  if (generation == GpuGeneration::Hopper) return {20.6e9};
  return {20e9};
}

/// Whether NVLink joins a node's GPUs: by the matrix of `nvidia-smi topo -m` where there is one.
bool have_nvlink(const NetworkFacts& facts) {
  return facts.nvlinks ? *facts.nvlinks > 0 : has_nvlink(facts.device);
}

/// Links inside a node by NVLink. A slot stands for others until the layout is known.
BytesPerSecond inside_by(const NetworkFacts& facts) {
  if (!have_nvlink(facts)) return kPcie3Slot;
  if (!facts.nvlinks) return inside_of(facts.device);
  return {*facts.nvlinks * nvlink_of(nvlink_generation(facts)).value};
}

/// Sources of a link that nccl_settings leave without peer-to-peer.
constexpr const char* kThroughHost =
    "not measured: nccl_settings end peer-to-peer, and GPUs send through the host's memory; the "
    "mean of machines that others measured (platforms/README.md)";
constexpr const char* kStepThroughHost =
    "not measured: nccl_settings end peer-to-peer; a ring step over PCIe in NCCL's own model";

/// The source of `inside_by`.
std::string words_for_inside(const NetworkFacts& facts) {
  const GpuGeneration generation = generation_of(facts.device);
  if (!have_nvlink(facts))
    return std::string("not measured: ") +
           (facts.nvlinks || !facts.device.empty() ? "" : "no file names the GPUs; ") +
           "what machines reach whose GPUs are on PCIe (platforms/README.md)";
  if (!facts.nvlinks)
    return is_amd(generation) ? "not measured: xGMI links of such GPUs as RCCL counts them"
                              : "not measured: NVLinks of such GPUs as NCCL counts them";
  const GpuGeneration counted = nvlink_generation(facts);
  const char* const whose = generation != GpuGeneration::Unknown ? "such GPUs"
                            : counted == GpuGeneration::Unknown
                                ? "unnamed GPUs"
                                : "Hopper: older GPUs have fewer, and no file names these";
  return "inferred from the matrix of nvidia-smi topo -m: " + std::to_string(*facts.nvlinks) +
         " NVLinks of " + number_to_text(nvlink_of(counted).value / 1e9) +
         " GB/s a GPU, as NCCL counts those of " + whose;
}

NetworkFacts facts_in(const TextFile& file, const SaidLayout& said) {
  const std::string_view begin = std::string_view(file.content).substr(0, kNetworkHead);
  for (const NetworkFormat& format : kFormats)
    if (format.recognises(begin)) return format.read(file, said);
  return kFormats.front().read(file, said);  // --kind forced it: this says what is missing
}

constexpr const char* kSaidByFiles = "said by the imported files";

std::string shown(const Cluster& cluster, const char* property) {
  return find_property(property).get(cluster);
}

/// The links and the network that files say, on the machine that somebody names.
void take_network(ImportedCluster& measured, NetworkFacts& facts) {
  Cluster& cluster = measured.cluster;
  const NetworkKind known = cluster.network_kind;
  const std::string its = " of " + cluster.name + " is " + shown(cluster, "network_kind");
  const bool no_tcp = known != NetworkKind::Unknown && known != NetworkKind::Tcp;
  if (facts.network_kind != NetworkKind::Unknown && !facts.kind_of_tcp &&
      facts.network_kind != known) {
    cluster.network_kind = facts.network_kind;
    measured.sources["network_kind"] = kSaidByFiles;
    if (known != NetworkKind::Unknown)
      facts.notes.unknown.push_back("why the files' network is " + shown(cluster, "network_kind") +
                                    " where that" + its +
                                    ": the files' is taken; are they of that machine?");
  }
  if (facts.links_of_tcp && no_tcp && cluster.network_kind == known) {
    facts.notes.dropped.push_back(
        "the rate and the round trip that iperf3 measured over TCP: the network" + its +
        ", where NCCL does not use TCP");
    return;
  }
  if (facts.nic_bandwidth) {
    cluster.nic.bandwidth = *facts.nic_bandwidth;
    drop_deviation(cluster, "nic_bandwidth");
    measured.sources["nic_bandwidth"] = kSaidByFiles;
  }
  if (facts.nic_latency) {
    cluster.nic.latency = *facts.nic_latency;
    drop_deviation(cluster, "nic_latency");
    measured.sources["nic_latency"] = kSaidByFiles;
  }
}

/// NCCL's environment and what its plugin says, as the files have them.
void take_environment(ImportedCluster& measured, const NetworkFacts& facts) {
  if (!facts.nccl_settings.text.empty()) {
    measured.cluster.nccl_settings = facts.nccl_settings;
    measured.sources["nccl_settings"] = kSaidByFiles;
  }
  if (facts.nccl_plugin_latency) {
    measured.cluster.nccl_plugin_latency = *facts.nccl_plugin_latency;
    measured.sources["nccl_plugin_latency"] = kSaidByFiles;
  }
}

/// The link inside nodes by the measured times, where it has no peer-to-peer: such machines differ.
/// `direct`: the machine's own file has one, which nccl_settings ended.
void derive_without_peer_to_peer(ImportedCluster& measured, const Cluster& machine, bool direct,
                                 NetworkFacts& facts) {
  auto& sources = measured.sources;
  if (machine.nvlink_sharp == YesNo::Yes)
    sources["nvlink_sharp"] = "nccl_settings end peer-to-peer, which it needs";
  if (measured.cluster.gpu_generation != machine.gpu_generation)
    sources["gpu_generation"] = "inferred: intra_bandwidth of " + machine.name;
  sources.erase("intra_bandwidth");
  sources.erase("intra_latency");
  derive_links(measured);  // the machine's other links have a source
  const std::string own = "as " + machine.name;
  sources.try_emplace("intra_bandwidth", direct ? kThroughHost : own);
  sources.try_emplace("intra_latency", direct ? kStepThroughHost : own);
  for (const char* property : {"intra_bandwidth", "intra_latency"}) {
    const std::string& source = sources[property];
    if (source == own) continue;
    auto& notes = source.starts_with("derived") ? facts.notes.inferred : facts.notes.unknown;
    notes.push_back(std::string(property) + ": " + source);
  }
}

/// The machine that somebody names, with the measured times, their nodes, and what the files say of
/// its network.
ImportedCluster measured_on(const Cluster& machine, NetworkFacts& facts) {
  if (!machine.overrides().empty())
    throw UsageError("--cluster: nodes of '" + machine.name +
                     "' differ, and measured times are for nodes that are alike");
  ImportedCluster measured;
  measured.cluster = machine;
  for (const PropertyRow& property : property_rows())
    measured.sources[std::string(property.name)] = "as " + machine.name;
  measured.sources.erase("measured_collectives");
  measured.cluster.measured_collectives.clear();
  measured.curve = curve_of(facts.points);
  const auto take = [&](const char* property, int count, int& value) {
    if (count == 0) return;
    value = count;
    measured.sources[property] = kSaidByFiles;
  };
  take("nodes", facts.nodes, measured.cluster.nodes);
  take("gpus_per_node", facts.gpus_per_node, measured.cluster.gpus_per_node);
  take_network(measured, facts);
  const bool direct = has_peer_to_peer(measured.cluster);
  take_environment(measured, facts);
  if (!has_peer_to_peer(measured.cluster)) {
    if (direct) send_through_host(measured.cluster);
    derive_without_peer_to_peer(measured, machine, direct, facts);
  }
  const GpuGeneration generation = generation_of(facts.device);
  if (generation != GpuGeneration::Unknown && machine.gpu_generation != GpuGeneration::Unknown &&
      generation != machine.gpu_generation)
    facts.notes.unknown.push_back("why the files name the GPU " + facts.device + " where " +
                                  machine.name + " has those of generation " +
                                  shown(machine, "gpu_generation") + ": are they of that machine?");
  require_possible(measured.cluster);
  return measured;
}

/// The properties that files say, and what stands for the others until links are derived.
ImportedCluster cluster_in(const NetworkFacts& facts) {
  ImportedCluster measured;
  Cluster& cluster = measured.cluster;
  auto& sources = measured.sources;
  measured.curve = curve_of(facts.points);
  cluster.nodes = std::max(1, facts.nodes);
  cluster.gpus_per_node = std::max(1, facts.gpus_per_node);
  sources["nodes"] = facts.layout_is_said ? "said by --nodes"
                     : facts.nodes > 0    ? "the most in the imported files; change it by --nodes"
                                          : "not known: change it by --nodes";
  sources["gpus_per_node"] = facts.layout_is_said      ? "said by --gpus-per-node"
                             : facts.gpus_per_node > 0 ? kSaidByFiles
                                                       : "not known";
  cluster.nics_per_node = std::max(1, facts.nics_per_node);
  if (facts.nics_per_node > 0) sources["nics_per_node"] = kSaidByFiles;
  cluster.network_kind = facts.network_kind;
  if (facts.network_kind != NetworkKind::Unknown) sources["network_kind"] = kSaidByFiles;
  cluster.gpu_generation = generation_of(facts.device);
  if (cluster.gpu_generation != GpuGeneration::Unknown)
    sources["gpu_generation"] = "inferred: " + facts.device;
  if (!facts.nccl_settings.p2p()) {
    cluster.nvlink_sharp = YesNo::No;
  } else if (facts.nvlink_sharp) {
    cluster.nvlink_sharp = *facts.nvlink_sharp;
    sources["nvlink_sharp"] = kSaidByFiles;
  } else if (cluster.gpu_generation >= GpuGeneration::Hopper && cluster.gpus_per_node == 8 &&
             !is_amd(cluster.gpu_generation) && has_nvlink(facts.device)) {
    cluster.nvlink_sharp = YesNo::Yes;
    sources["nvlink_sharp"] = "inferred: eight such GPUs have NVSwitch";
  }
  take_environment(measured, facts);
  const bool nvlink = have_nvlink(facts);
  cluster.intra = {inside_by(facts), nvlink ? kNvlinkStep : kPcieStep};
  cluster.nic = {
      facts.nic_bandwidth.value_or(BytesPerSecond{12e9}),
      facts.nic_latency.value_or(facts.network_kind == NetworkKind::Tcp   ? kTcpStep
                                 : facts.network_kind == NetworkKind::Efa ? kEfaStep
                                                                          : kNetworkStep)};
  if (facts.nic_bandwidth) sources["nic_bandwidth"] = kSaidByFiles;
  if (facts.nic_latency) sources["nic_latency"] = kSaidByFiles;
  require_possible(cluster);
  return measured;
}

/// Links by the measured times. What they do not say is taken, and said.
void fill_in_links(ImportedCluster& measured, NetworkFacts& facts) {
  auto& sources = measured.sources;
  const NetworkKind kind = measured.cluster.network_kind;
  if (!facts.nic_bandwidth && least_leaving_node(measured.curve) > 0 &&
      (kind == NetworkKind::Tcp || kind == NetworkKind::Unknown)) {
    measured.cluster.nic_share = kAllOfNic;
    sources["nic_share"] = kAllOfNicWords;
  }
  derive_links(measured);
  const auto say = [&](const char* property, const std::string& why) {
    if (!sources.contains(property)) sources[property] = why;
  };
  constexpr const char* kStep = "not measured: a ring step in NCCL's own model";
  const bool one = measured.cluster.nodes == 1;
  constexpr const char* kNoNic = "not measured: one node crosses no NIC; ";
  say("nic_bandwidth", one ? std::string(kNoNic) + "100 Gbit/s is assumed for several"
                           : "not measured: 100 Gbit/s is assumed");
  say("nic_latency",
      one ? std::string(kNoNic) + "a ring step in NCCL's own model is assumed for several"
      : kind == NetworkKind::Efa ? "not measured: a step over EFA in two published logs"
                                 : kStep);
  const bool alone = measured.cluster.gpus_per_node == 1;
  say("intra_bandwidth", alone && !have_nvlink(facts)
                             ? "not measured: a GPU's slot as NCCL counts it"
                         : alone                              ? "not crossed by one GPU"
                         : has_peer_to_peer(measured.cluster) ? words_for_inside(facts)
                                                              : kThroughHost);
  say("intra_latency", kStep);
  for (const char* property : {"nics_per_node", "nic_bandwidth", "nic_share", "nic_latency",
                               "intra_bandwidth", "intra_latency"})
    if (!sources.contains(property))  // nobody said it, and nothing shows it
      continue;
    else if (sources[property].starts_with("not measured"))
      facts.notes.unknown.push_back(std::string(property) + ": " + sources[property]);
    else if (sources[property].starts_with("derived") || sources[property].starts_with("inferred"))
      facts.notes.inferred.push_back(std::string(property) + ": " + sources[property] +
                                     (property == std::string_view("nic_share")
                                          ? " (" + percent_to_text(measured.cluster.nic_share) + ")"
                                          : ""));
}

/// Takes the layout that somebody says where the files say none: links are measured between two
/// hosts of any cluster.
void take_said_layout(ImportedCluster& measured, const SaidLayout& said, NetworkFacts& facts) {
  const auto take = [&](const char* property, const std::string& flag, std::optional<int> count,
                        bool in_files, int& value) {
    if (!count || value == *count) return;
    if (in_files)
      return facts.notes.dropped.push_back(flag + " " + std::to_string(*count) +
                                           ": the files say " + std::to_string(value));
    value = *count;
    measured.sources[property] = "said by " + flag;
  };
  take("nodes", "--nodes", said.nodes, !facts.points.empty(), measured.cluster.nodes);
  take("gpus_per_node", "--gpus-per-node", said.gpus_per_node, facts.gpus_per_node > 0,
       measured.cluster.gpus_per_node);
}

/// Links inside nodes where GPUs have no NVLink, or settings keep them from it.
void take_links_without_nvlink(Cluster& cluster, const NetworkFacts& facts) {
  Cluster named = cluster;  // the GPU's known name comes later
  named.gpu = facts.device;
  if (!have_nvlink(facts))
    take_guess_on_pcie(named);
  else if (!has_peer_to_peer(named))
    send_through_host(named);
  named.gpu = cluster.gpu;
  cluster = std::move(named);
}

}  // namespace

bool network_recognises(const FileHead& head) {
  return std::any_of(kFormats.begin(), kFormats.end(),
                     [&](const NetworkFormat& format) { return format.recognises(head.bytes); });
}

Imported network_read(const std::vector<std::filesystem::path>& paths,
                      const ImportOptions& options) {
  std::vector<NetworkFacts> files;
  for (const std::filesystem::path& path : paths) {
    files.push_back(facts_in(read_log(path), options.layout));
    files.back().device_file = path.string();
  }
  NetworkFacts facts = joined(std::move(files));
  Imported imported;
  imported.kind = "network";
  imported.device = facts.device;
  try {
    imported.cluster = options.machine ? measured_on(*options.machine, facts) : cluster_in(facts);
    take_said_layout(*imported.cluster, options.layout, facts);
    if (!options.machine) take_links_without_nvlink(imported.cluster->cluster, facts);
    require_possible(imported.cluster->cluster);
  } catch (const ValueError& error) {
    throw DataError(paths.front().string(), 0, error.what());
  }
  if (!options.machine) fill_in_links(*imported.cluster, facts);
  imported.notes = std::move(facts.notes);
  imported.mixed = std::move(facts.mixed);
  imported.world_size = imported.cluster->cluster.ranks();
  return imported;
}

}  // namespace import_readers
}  // namespace gradcast
