#include "sim/options/assumption_notes.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "kernels/compressor.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/time_unit.hpp"
#include "sim/forecast/evaluation.hpp"
#include "sim/forecast/link_doubt.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_transfer.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/network/nccl_rule.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast {
namespace {

/// The line of a request whose trace was named and is of a CPU, where its cluster has a GPU; ""
/// where somebody said how fast that is. No figure of a CPU's says how much faster.
std::string cpus_trace_line(const Request& request, const std::vector<Device>& devices,
                            DataFiles& files) {
  if (!request.today || request.trace.empty() || request.payload || request.compute) return "";
  const Cluster cluster = cluster_of(request, files);
  const bool speed_said =
      cluster.compute_speed != 1 ||
      std::any_of(request.changed.begin(), request.changed.end(),
                  [](const auto& changed) { return changed.name.starts_with("compute_speed"); });
  if (!names_gpu(cluster) || speed_said) return "";
  const std::string device = files.parsed(read_trace(request, files), load_iteration_trace)->device;
  if (!is_cpu(device)) return "";
  return "the times of " + request.trace + " are of " + device + ", and the cluster's GPU is " +
         gpu_of(cluster, devices).name + (cluster.gpu.empty() ? " (by its generation)" : "") +
         ": they are taken as they are; --compute-speed scales them, --compute-seconds takes a "
         "measured time";
}

/// A rate of NVLink is of a data sheet, in one direction or in both, or of NCCL: three that differ
/// by more than generations do.
std::string unnamed_gpus_line(const Request& request, DataFiles& files) {
  const bool typed =
      std::any_of(request.changed.begin(), request.changed.end(),
                  [](const ClusterProperty& changed) { return changed.name == "intra_bandwidth"; });
  if (!typed && !is_path(request.cluster)) return "";
  const Cluster cluster = cluster_of(request, files);
  constexpr BytesPerSecond kLeastOfSheets{290e9};
  if (names_gpu(cluster) || cluster.intra.bandwidth < kLeastOfSheets ||
      !files.has(kDevices, "devices"))
    return "";
  const auto devices = files.parsed(files.read(kDevices, "devices"), load_devices);
  return "nothing names the GPUs (--gpu does): by an intra_bandwidth of " +
         to_text(cluster.intra.bandwidth) + " they are taken for " +
         gpu_of(cluster, *devices).name +
         "; data sheets count NVLink in both directions, and this is one";
}

/// The line of a stated compute time that is far from the trace's; "" of others. No GPU is a
/// hundred times as fast as another that trains the same; seconds and milliseconds are further
/// apart.
std::string far_compute_line(const Request& request, const TextFile& file, DataFiles& files) {
  if (!request.compute || *request.compute <= Seconds{0}) return "";
  constexpr double kFar = 100;
  const auto trace = files.parsed(file, load_iteration_trace);
  const int samples = request.batch.value_or(trace->batch * request.accumulation);
  const double own = trace->iteration_alone(1).count() * samples / trace->batch;
  const double times = request.compute->count() / own;
  if (times <= kFar && times >= 1 / kFar) return "";
  return "--compute-seconds " + time_text(*request.compute) + " is " +
         number_to_text(rounded_to(2, times)) + " times what " + file.path.filename().string() +
         " says of " + std::to_string(samples) + " samples: seconds, of one GPU alone?";
}

/// The line of a stated compute time that another speed than 1 divides; "" of others.
std::string divided_compute_line(const Request& request, DataFiles& files) {
  if (!request.compute) return "";
  const double speed = cluster_of(request, files).compute_speed;
  return speed == 1 ? ""
                    : "--compute-seconds " + time_text(*request.compute) +
                          " counts at a compute_speed of 1: at " + number_to_text(speed) +
                          " it is " + time_text(*request.compute / speed);
}

/// The line of a request whose nodes have more GPUs than their file, where these share NVLink, and
/// of one whose nodes are as small as hosts where the file's are racks; "" of others.
std::string gpus_of_node_line(const Request& request, DataFiles& files) {
  if (is_path(request.cluster)) return "";
  const Cluster asked = cluster_of(request, files);
  Request plain = request;
  plain.changed.clear();
  const Cluster its = cluster_of(plain, files);
  if (its.gpus_per_node > kMostOfHost && asked.gpus_per_node <= kMostOfHost && asked.nodes > 1)
    return "a node of " + request.cluster + " is a rack that NVLink joins: these are " +
           std::to_string(asked.nodes) + " racks, of which " + std::to_string(asked.gpus_per_node) +
           " GPUs each take part; hosts of one rack are --nodes 1 --gpus-per-node " +
           std::to_string(std::min(its.gpus_per_node, asked.ranks()));
  if (asked.gpus_per_node <= its.gpus_per_node || is_amd(gpu_generation_of(its)) ||
      !nccl_machine(its, kUsualNccl, 1, its.gpus_per_node).nvlink)
    return "";
  return "the cluster's file has " + std::to_string(its.gpus_per_node) + " GPUs a node; " +
         std::to_string(asked.gpus_per_node) + " are taken to share its NVLink as they do";
}

}  // namespace

void note_assumed(const Flags& flags, const Request& request, DataFiles& files) {
  if (!request.today) return;
  DataFiles others = files.beside();  // no answer rests on them
  try {
    const Scenario scenario = make_scenario(request, others);
    const Evaluation its = evaluate(scenario, *find_engine("analytic"));
    flags.note("assumed, where nothing varies it: " + assumed_words(request, scenario) +
               (its.doubt.spread ? link_words(scenario, *its.doubt.spread) : ""));
  } catch (const ValueError&) {  // a point without an answer, which says why
  } catch (const DataError&) {
  }
}

void note_cpus_trace(const Flags& flags, const std::vector<Request>& requests, DataFiles& files) {
  DataFiles others = files.beside();  // no answer rests on them
  if (!others.has(kDevices, "devices")) return;
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  std::set<std::string> asked;
  std::set<std::string> told{""};
  for (const Request& request : requests) {
    std::string gpu = join({request.trace, request.folder, request.cluster}, "\n");
    for (const ClusterProperty& changed : request.changed)
      if (changed.name.starts_with("gpu") || changed.name.starts_with("compute_speed"))
        gpu += "\n" + changed.name + "=" + changed.value;
    if (!asked.insert(std::move(gpu)).second) continue;
    std::string line;
    try {
      line = cpus_trace_line(request, *devices, others);
    } catch (const ValueError&) {  // a point without an answer, which says why
    } catch (const DataError&) {
    }
    if (told.insert(line).second) flags.note(line);
  }
}

void note_density(const Flags& flags, const std::vector<std::string>& compressors) {
  for (const std::string& name : std::set(compressors.begin(), compressors.end()))
    if (selects_by_parameter(name))
      flags.note("how many elements pass the threshold of '" + name +
                 "' depends on the gradient: the share --density is taken to pass; " +
                 "`gradcast train --counts` counts it");
}

void note_collective(const Flags& flags, const std::vector<std::string>& compressors) {
  const std::set<std::string> several(compressors.begin(), compressors.end());
  if (several.size() < 2) return;
  std::vector<std::string> gathered;
  for (const std::string& name : several) {
    const Compressor* known = find_compressor(name);
    if (known != nullptr && known->adds_up_on_request()) gathered.push_back(name);
  }
  if (gathered.empty()) return;
  flags.note(
      "what these send is gathered here, and could be all-reduced where ranks share a seed "
      "or a scale (--collective ring-all-reduce): " +
      join(gathered));
}

void note_untimed(const Flags& flags, const std::vector<Request>& requests, DataFiles& files) {
  std::set<std::string> told;
  for (const Request& request : requests)
    if (!told.contains(request.compressor) && costs_of_family(request, files)) {
      told.insert(request.compressor);
      flags.note("nobody timed '" + request.compressor +
                 "': it costs what its family does on average, and the interval holds the family's "
                 "spread; a property 'costs' in its file, or --costs, names yours");
    }
}

void note_memory(const Flags& flags, const std::vector<Request>& requests, DataFiles& files) {
  DataFiles others = files.beside();  // no answer rests on them
  if (!others.has(kDevices, "devices")) return;
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  std::set<std::string> told;
  std::set<std::string> seen;  // unsharded: each rank holds all, whatever the number of nodes
  for (const Request& request : requests) {
    if (request.payload) continue;
    const std::string run =
        join({request.model, request.trace, request.cluster,
              std::to_string(request.batch.value_or(0)), std::to_string(request.accumulation)},
             "\n");
    if (told.contains(run)) continue;
    const bool sharded = request.sharding.kind != Sharding::None;
    if (!sharded && !seen.insert(run + "\n" + request.compressor).second) continue;
    std::optional<Scenario> possible;
    Bytes needed{};
    try {
      possible = make_scenario(with_defaults(request, others), others);
      needed = memory_of(*possible, make_plan(*possible)).total();
    } catch (const ValueError&) {  // a point without an answer, which says why
      continue;
    } catch (const DataError&) {
      continue;
    }
    const Scenario& scenario = *possible;
    const Cluster& cluster = scenario.cluster;
    const Device& gpu = gpu_of(cluster, *devices);
    if (gpu.memory.count == 0 || needed <= usable_memory(gpu.memory)) continue;
    told.insert(run);
    const auto gigabytes = [](Bytes bytes) {
      return fixed(static_cast<double>(bytes.count) / 1e9, 1);
    };
    const std::string with =
        scenario.compresses() ? " with " + std::string(scenario.compressor->name) : "";
    flags.note(scenario.model->name + " at batch " + std::to_string(scenario.batch()) + with +
               " needs " + gigabytes(needed) + " GB of a GPU's " + gigabytes(gpu.memory) + " (" +
               gpu.name + (names_gpu(cluster) ? "; " : ", for the cluster names no GPU; ") +
               fixed(100 * kReservedMemory, 0) +
               " % are kept free): it does not fit; `gradcast decide` says what does");
  }
}

void note_usual_cluster(const Flags& flags, const Request& request) {
  if (flags.given("cluster") || !request.today) return;
  flags.note("no cluster is named: this is " + request.cluster +
             ", the default; --cluster names yours (`gradcast list`)");
}

void note_sharding(const Flags& flags, const std::vector<Request>& requests, DataFiles& files) {
  DataFiles others = files.beside();  // no answer rests on them
  std::set<std::string> asked;
  std::set<std::string> told{""};
  for (const Request& request : requests) {
    const std::string software =
        join({request.stack, to_text(request.sharding), request.cluster, request.folder}, "\n");
    if (request.sharding.kind == Sharding::None || !asked.insert(software).second) continue;
    std::string line;
    try {
      line = missing_sharding(with_defaults(request, others), others);
    } catch (const ValueError&) {  // a point without an answer, which says why
    } catch (const DataError&) {
    }
    if (told.insert(line).second) flags.note(line);
  }
}

void note_gpus_of_node(const Flags& flags, const std::vector<Request>& requests, DataFiles& files) {
  DataFiles others = files.beside();  // no answer rests on them
  std::set<std::string> told{""};
  for (const Request& request : requests) {
    std::string line;
    try {
      if (line = unnamed_gpus_line(request, others); told.insert(line).second) flags.note(line);
      line = gpus_of_node_line(request, others);
    } catch (const ValueError&) {  // a point without an answer, which says why
    } catch (const DataError&) {
    }
    if (told.insert(line).second) flags.note(line);
  }
}

void note_links(const Flags& flags, const Cluster& cluster) {
  if (cluster.gpus_per_node == 1) return;
  Cluster by_itself = cluster;
  by_itself.nccl_settings = {};
  if (flags.given("gpu") && !flags.given("intra-bandwidth") && !has_peer_to_peer(by_itself))
    flags.note(
        "a node's " + cluster.gpu +
        " have no NVLink here, and no peer-to-peer over PCIe: they send through the host's "
        "memory; --intra-bandwidth says what yours reach, and --pcie-bandwidth says what a slot "
        "carries that several of them share");
  if (flags.given("nvlink-sharp") && flags.text("nvlink-sharp") == "yes" &&
      !has_peer_to_peer(cluster))
    flags.note(
        "--nvlink-sharp changes nothing here: GPUs without peer-to-peer reach no NVLink switch");
}

void note_trace_evidence(const Flags& flags, const Request& request, DataFiles& files) {
  if (request.payload) return;  // of no model
  if (request.shares_by_flops)
    return flags.note("model '" + request.model +
                      "' has no trace: --compute-seconds is shared out by its " + kByFlops +
                      "; --trace names a trace" +
                      (request.batch ? "" : "; a batch of 1 is taken: --batch says yours"));
  DataFiles others = files.beside();  // no answer rests on them
  if (const std::string line = divided_compute_line(request, others); !line.empty())
    flags.note(line);
  const TextFile& trace = files.read(kIterationTraces, request.trace_name(), request.folder);
  const std::string evidence = comment_value(trace, "evidence");
  if (evidence.starts_with("derived"))
    flags.note("the model's times are " + evidence + "; `# evidence:` of " + trace.path.string());
  if (const std::string line = far_compute_line(request, trace, files); !line.empty())
    flags.note(line);
}

}  // namespace gradcast
