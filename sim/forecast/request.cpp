#include "sim/forecast/request.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/engine/simgrid_platform.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/training.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/inputs/cluster_faults.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/collective_curve.hpp"
#include "sim/inputs/compressor_file.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_transfer.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/inputs/fitted_with.hpp"
#include "sim/network/rccl_tables.hpp"
#include "sim/plan/scenario_quantity.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
namespace {

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto* entry : table) names.emplace_back(entry->name);
  return names;
}

ValueError unknown(const std::string& what, const std::string& typed,
                   const std::vector<std::string>& known) {
  return ValueError("unknown " + what + " '" + typed + "'" + did_you_mean(typed, known) +
                    " (known: " + join(known) + ")");
}

/// The endings of names say what a library's rule is asked for; none is its all-reduce.
struct Ending {
  std::string_view name;
  Outcome outcome;
  bool nccl_alone;  // and RCCL
};
constexpr Ending kEndings[] = {{"", Outcome::AllReduced, false},
                               {"-all-gather", Outcome::AllGathered, false},
                               {"-reduce-scatter", Outcome::Scattered, false},
                               {"-broadcast", Outcome::Broadcast, true},
                               {"-send-receive", Outcome::Passed, true}};

/// A collective that a library chooses by its own rule.
struct Ruled {
  const LibraryRule* library;  // nullptr: NCCL, or RCCL on AMD's GPUs
  Outcome outcome;
  bool rccl = false;  // named so
};

std::vector<std::string> ruled_names() {
  std::vector<std::string> names;
  for (const Ending& ending : kEndings) {
    for (const char* library : {"nccl", "rccl"})
      names.push_back(library + std::string(ending.name));
    for (const LibraryRule& rule : library_rules())
      if (!ending.nccl_alone) names.push_back(std::string(rule.name) + std::string(ending.name));
  }
  return names;
}

/// Nothing where the name is another.
std::optional<Ruled> find_ruled(std::string_view name) {
  for (const Ending& ending : kEndings) {
    if (!name.ends_with(ending.name)) continue;
    const std::string_view library = name.substr(0, name.size() - ending.name.size());
    if (library == "nccl" || library == "rccl")
      return Ruled{nullptr, ending.outcome, library == "rccl"};
    const LibraryRule* rule = find_library_rule(library);
    if (rule != nullptr && !ending.nccl_alone) return Ruled{rule, ending.outcome};
  }
  return {};
}

/// PyTorch calls RCCL by the name nccl, so that this one serves both.
void require_rccls_gpus(const Cluster& cluster, const NcclVersion& version, bool rccl) {
  const bool amd = is_amd(gpu_generation_of(cluster));
  if (rccl && !amd)
    throw ValueError("RCCL runs on AMD's GPUs, and cluster '" + cluster.name +
                     "' has others: use collective 'nccl', or say gpu_generation cdna3");
  if (amd && version < kOldestRccl)
    throw ValueError("RCCL " + to_text(version) +
                     " is older than its tables that are known here: " +
                     "name a version (nccl) from " + to_text(kOldestRccl) + " on, as in ROCm 7");
}

/// The collectives by which a training may send what the compressor makes.
std::vector<std::string> collectives_for(const Compressor& compressor) {
  std::vector<std::string> names;
  for (const Collective* collective : all_collectives())
    if (carries(*collective, compressor) && collective->outcome != Outcome::Scattered &&
        (compressor.exact_count || !collective->needs_exact_count))
      names.emplace_back(collective->name);
  return names;
}

/// nullptr for "auto".
const Collective* choose_collective(const std::string& name, const Compressor& compressor,
                                    bool training) {
  if (name == "auto") return nullptr;
  if (name.empty()) return &default_collective(compressor.aggregation);
  const Collective* collective = find_collective(name);
  if (collective == nullptr) throw unknown("collective", name, collective_names());
  if (!training && !collective->sparse) return collective;
  if (!training)
    throw ValueError("collective '" + name +
                     "' carries selected elements of a model: use --model, not --payload");
  const std::string use = ": use one of " + join(collectives_for(compressor));
  if (!carries(*collective, compressor))
    throw ValueError("collective '" + name + "' does not serve compressor '" +
                     std::string(compressor.name) + "'" + use);
  if (collective->outcome == Outcome::Scattered)
    throw ValueError("collective '" + name +
                     "' leaves each rank a part of the sum, and training needs all of it" + use);
  if (collective->needs_exact_count && !compressor.exact_count)
    throw ValueError("collective '" + name +
                     "' needs the same count on every rank, and compressor '" +
                     std::string(compressor.name) + "' selects a varying one" + use +
                     ", or another compressor, like topk");
  return collective;
}

/// The stack of a file; of a described compressor with what its family takes.
std::shared_ptr<const Stack> stack_in(const TextFile& file, const Compressor* compressor,
                                      const DataFiles& files) {
  const auto stack = files.parsed(file, load_stack);
  if (compressor == nullptr || described(*compressor) == nullptr) return stack;
  return files.made<Stack>(join({file.path.native(), std::string(compressor->name)}, "\n"),
                           [&] { return with_terms_of(*stack, *compressor); });
}

/// A file's formula says the bytes, and nothing of how they are divided.
void require_formula_alone(const Request& request, const Compressor& compressor) {
  if (described(compressor) == nullptr) return;
  const char* flag = request.wire_bytes_per_element          ? "wire-bytes-per-element"
                     : request.wire_messages.value_or(1) > 1 ? "wire-messages"
                     : request.value_type != ValueType::Fp32 ? "value-type"
                                                             : nullptr;
  if (flag != nullptr)
    throw ValueError("the file of compressor '" + std::string(compressor.name) +
                     "' says what is sent: leave " + flag + " out");
}

/// The cluster as its file describes it.
std::shared_ptr<const Cluster> described_cluster(const Request& request, const TextFile& file,
                                                 const DataFiles& files) {
  return files.parsed(file, request.cluster.ends_with(".xml") ? load_xml_cluster : load_cluster);
}

/// The cluster's measured times of collectives: a flag's file, or its own; nullptr for none.
const TextFile* read_collectives(const Request& request, const TextFile& file, DataFiles& files) {
  const Cluster& described = *described_cluster(request, file, files);
  std::string name = described.measured_collectives;
  std::filesystem::path folder = file.path.parent_path();
  for (const ClusterProperty& property : request.changed)
    if (property.name == "measured_collectives") {
      name = property.value == "none" ? "" : property.value;
      folder.clear();
    }
  if (name.empty() || !described.platform_file.empty()) return nullptr;
  return &files.read(kCollectiveCurves, name, folder);
}

std::shared_ptr<const MeasuredCollectives> measured_on(const Request& request, const TextFile& file,
                                                       DataFiles& files) {
  const TextFile* times = read_collectives(request, file, files);
  if (times == nullptr) return nullptr;
  return files.made<MeasuredCollectives>(
      join({file.path.native(), times->path.native()}, "\n"), [&] {
        return MeasuredCollectives{times->path.filename().string(),
                                   *files.parsed(*times, load_collective_curve),
                                   *described_cluster(request, file, files)};
      });
}

/// Throws ValueError for a GPU that traces/devices.csv does not know. A collective alone does not
/// depend on more than its generation: a name that says none would change nothing, silently.
void require_known_gpu(const Cluster& cluster, const DataFiles& files) {
  DataFiles others = files.beside();  // no answer rests on them
  if (cluster.gpu.empty() || !others.has(kDevices, "devices")) return;
  gpu_of(cluster, *others.parsed(others.read(kDevices, "devices"), load_devices));
}

constexpr const char* kIntraBandwidth = "intra_bandwidth";

/// Sets a property to what somebody typed. The intervals of a fitted cluster keep what its file
/// says of other properties than the bandwidth inside nodes.
void take_typed(Cluster& cluster, const ClusterProperty& property) {
  set_property(cluster, property.name, property.value);
  if (property.name == kIntraBandwidth) drop_deviation(cluster, kIntraBandwidth);
}

/// Sets the numbers of links inside nodes that somebody typed, whatever stands there now.
void take_typed_links(Cluster& cluster, const Request& request) {
  for (const ClusterProperty& property : request.changed)
    if (property.name == kIntraBandwidth || property.name == "intra_latency")
      take_typed(cluster, property);
}

/// The links inside nodes that the changes leave. A guess becomes what machines with such GPUs
/// reach. Where the changes end peer-to-peer, GPUs send through the host's memory. Numbers that
/// somebody types hold.
void settle_links_inside(Cluster& cluster, const Cluster& of_file, const Request& request) {
  const bool guessed = guesses_pcie(of_file) && !changes_everywhere(request, kIntraBandwidth);
  if (!guessed && !changes_everywhere(request, "gpu") &&
      !changes_everywhere(request, "nccl_settings"))
    return;
  Cluster on_its_link = cluster;
  // MPI and Gloo do not read NCCL's settings.
  if (const auto ruled = find_ruled(request.collective); ruled && ruled->library != nullptr)
    on_its_link.nccl_settings = {};
  if (guessed) {
    take_guess_on_pcie(on_its_link);
    on_its_link.nccl_settings = cluster.nccl_settings;
    cluster = std::move(on_its_link);
    return;
  }
  // Cards in the place of GPUs that NVLink joins.
  if (changes_everywhere(request, "gpu") && !changes_everywhere(request, kIntraBandwidth) &&
      joined_by_nvlink(on_its_link) && is_pcie_card(on_its_link)) {
    on_its_link.intra.latency = std::max(on_its_link.intra.latency, kPcieStep);
    if (!changes_everywhere(request, "nvlink_sharp")) on_its_link.nvlink_sharp = YesNo::No;
    take_guess_on_pcie(on_its_link);
    on_its_link.nccl_settings = cluster.nccl_settings;
    take_typed_links(on_its_link, request);
    cluster = std::move(on_its_link);
    return;
  }
  if (has_peer_to_peer(on_its_link) || !has_peer_to_peer(of_file)) return;
  on_its_link.intra = of_file.intra;
  if (has_peer_to_peer(on_its_link)) return;
  on_its_link.nccl_settings = cluster.nccl_settings;
  send_through_host(on_its_link);
  take_typed_links(on_its_link, request);
  cluster = std::move(on_its_link);
}

/// The named cluster with the request's changes. Throws as make_scenario does.
Cluster changed_cluster(const Request& request, const TextFile& file, DataFiles& files) {
  Cluster cluster = *described_cluster(request, file, files);
  cluster.measured = measured_on(request, file, files);
  const Cluster of_file = cluster;
  for (const ClusterProperty& property : request.changed) {
    try {
      take_typed(cluster, property);
    } catch (const ValueError& error) {
      throw ValueError(property.name + ": " + error.what());
    }
  }
  if (changes_everywhere(request, "gpu")) require_known_gpu(cluster, files);
  // Another GPU in the place of the file's is of its own generation.
  if (const GpuGeneration its = generation_named(cluster.gpu);
      changes_everywhere(request, "gpu") && !changes_everywhere(request, "gpu_generation") &&
      its != GpuGeneration::Unknown)
    cluster.gpu_generation = its;
  settle_links_inside(cluster, of_file, request);
  if (!changes_everywhere(request, kIntraBandwidth)) leave_links(cluster, of_file);
  if (request.collective == "gloo" && !changes_everywhere(request, kIntraBandwidth)) {
    take_loopback(cluster);
    take_typed_links(cluster, request);
  }
  if (!changes_everywhere(request, "nics_per_node"))
    cluster.nics_per_node = of_file.nics_near(cluster.gpus_per_node);
  require_possible(cluster);
  return cluster;
}

/// The file of the population whose transport is that of the library that was asked for.
std::string population_file(Transport transport) {
  return std::string(kStacks.prefix) + population_of(transport);
}

/// "ddp-nccl" is short for "stack-ddp-nccl". Where none was typed, it is the population's, and ""
/// where the data folder lacks that.
std::string stack_name(const Request& request, const DataFiles& files) {
  const std::string& typed = request.stack;
  if (typed.empty()) {
    for (const Transport transport : {transport_of(request.collective), Transport::Nccl})
      if (const std::string usual = population_file(transport); files.has(kStacks, usual))
        return usual;
    return "";
  }
  return is_path(typed) || typed.starts_with(kStacks.prefix) ? typed
                                                             : std::string(kStacks.prefix) + typed;
}

/// The memory bandwidth of the trace's GPU, or of the cluster's: where no row of traces/devices.csv
/// is the trace's, and by today's preset where the cluster's is known to compute.
BytesPerSecond gpu_memory_of(const Request& request, const Scenario& scenario,
                             const DataFiles& files) {
  DataFiles others = files.beside();  // physics alone has no use for it
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  const Cluster& cluster = scenario.cluster;
  // Engines divide a GPU's work by its speed, and this memory has that speed already.
  if (request.today && request.knows_own_gpu() && names_gpu(cluster))
    return {gpu_of(cluster, *devices).memory_bandwidth.value / cluster.compute_speed};
  if (const Device* device = device_meant(*devices, scenario.trace->device))
    return device->memory_bandwidth;
  return gpu_of(cluster, *devices).memory_bandwidth;
}

/// No GPU trains faster than this share of its data sheet's arithmetic: the best published runs
/// reach 0.63 on A100 (llm.c), and 0.73 where what they compute twice counts too (MPT of 7b).
constexpr double kMostOfArithmetic = 0.75;

/// A host takes so long to launch a network's kernels by PyTorch, for each tensor. Assumed: at
/// batch 32 ResNet-50 and ResNet-101 took a GH200 143 and 129 us a tensor, its own work in TF32
/// included (traces/unseen-trainings.csv).
constexpr Seconds kLaunchesOfTensor{100e-6};

/// Bounds one GPU's iteration where nobody measured it: by arithmetic, and by launches of kernels
/// at a batch below the trace's, or on a GPU of another speed. The trace's host launched
/// them within its iteration.
void bound_compute(Scenario& scenario, const Request& request, const DataFiles& files) {
  if (!request.today || request.payload || request.compute || !files.has(kDevices, "devices"))
    return;
  DataFiles others = files.beside();
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  const Device& own = gpu_of(scenario.cluster, *devices);
  const Model& model = *scenario.model;
  const bool all_train =
      std::ranges::none_of(model.tensors, [](const GradientTensor& each) { return each.frozen; });
  const std::optional<FlopsPerSecond>& rate = own.fp16 ? own.fp16 : own.fp32;
  const double speed = scenario.cluster.compute_speed;
  const bool own_is_known = names_gpu(scenario.cluster) || request.speed_derived;
  if (rate && all_train && own_is_known)
    scenario.least_compute =
        Seconds{3 * model.forward_flops() * scenario.batch() / (kMostOfArithmetic * rate->value)};
  const IterationTrace& trace = *scenario.trace;
  scenario.perhaps_in_fp32 = !is_path(request.trace) && !trace.activation_type && trace.in_fp32() &&
                             speed == 1 && !changes_everywhere(request, "compute_speed");
  const auto as_timed = others.parsed(read_trace(request, others), load_iteration_trace);
  if (trace.batch >= as_timed->batch && speed <= 1 && !request.speed_derived) return;
  if (trace.has_launches() || is_cpu(trace.device)) return;
  const Seconds launching = std::min(static_cast<double>(model.tensors.size()) * kLaunchesOfTensor,
                                     as_timed->iteration_alone(1)) *
                            speed;
  const double work = trace.iteration_alone(1) / launching;
  if (work >= 1) return;
  scenario.work_of_launching = work;
  scenario.trace = times_as_long(scenario.trace, 1 / work);
}

/// True if the costs are of the cluster's GPU, and the trace is of another: they were scaled to it,
/// or their table is of it.
bool costs_of_clusters_gpu(const Request& costs, const Scenario& scenario, const DataFiles& files) {
  if (costs.costs_device == kCpu || !files.has(kDevices, "devices")) return false;
  DataFiles others = files.beside();
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  const Device* traced = device_meant(*devices, scenario.trace->device);
  if (!costs.costs_device.empty()) return traced == nullptr || traced->name != costs.costs_device;
  const Device* its = device_meant(*devices, device_text(*scenario.costs));
  return its != nullptr && traced != nullptr && traced->name != its->name &&
         its->name == gpu_of(scenario.cluster, *devices).name;
}

/// Names of the software costs that the scenario's cluster has a value for: it holds, as a flag's
/// does. Not so a collective's launch, which files have as NCCL counts it: a framework's calls take
/// longer.
std::vector<std::string> software_of_file(const Scenario& scenario) {
  static const Scenario kNothing;
  std::vector<std::string> names;
  for (const ScenarioQuantity& quantity : all_scenario_quantities())
    if (quantity.of == ScenarioQuantity::Of::Cluster && quantity.software &&
        quantity.name != "per_collective_latency" &&
        quantity.get(scenario) != quantity.get(kNothing))
      names.emplace_back(quantity.name);
  return names;
}

/// Low rank is of whole matrices: their shapes must be known.
void require_matrices(const Request& request, const Scenario& scenario) {
  const std::string compressor = "compressor '" + request.compressor + "'";
  if (!scenario.model->has_shapes())
    throw ValueError(compressor + " needs the shapes of the tensors, and model '" + request.model +
                     "' has none: give it a column 'shape', like 64x3x7x7");
  if (scenario.shards() > 1)
    throw ValueError(compressor + " needs whole matrices, and with sharding '" +
                     to_text(request.sharding) +
                     "' a rank has a part of each: use another compressor, or leave sharding out");
}

}  // namespace

std::vector<std::string> collective_names() {
  std::vector<std::string> names = names_of(all_collectives());
  names.emplace_back("auto");
  for (std::string& name : ruled_names()) names.push_back(std::move(name));
  return names;
}

Request as_written(const MeasuredRun& run) {
  Request request;
  request.folder = request.costs_folder = run.folder;
  request.model = run.model;
  request.trace = run.trace;
  if (!run.costs.empty()) request.costs = run.costs;
  request.cluster = run.cluster;
  request.compressor = run.compressor;
  request.mode = run.mode;
  request.implementation = run.implementation;
  request.collective = run.collective;
  request.nccl = run.nccl;
  request.density = run.density;
  request.parameter = run.parameter;
  request.batch = run.batch;
  request.stack = run.stack;
  request.fusion = run.fusion;
  request.selection = run.selection;
  request.overlap = run.overlap;
  request.wire_bytes_per_element = run.wire_bytes_per_element;
  request.wire_messages = run.wire_messages;
  request.compressing = run.compressing;
  request.extrapolate = true;  // its row says how far off the answer is
  if (run.payload.count > 0)
    request.payload = run.payload;
  else
    request.compute = run.compute;
  request.concurrent_jobs = run.concurrent_jobs;
  request.accumulation = run.accumulation;
  request.sharding = run.sharding;
  request.sharding_given = run.sharding_given;
  request.precision = run.precision;
  request.framework_in_compute = run.framework_in_compute;
  request.broadcast_buffers = run.broadcast_buffers;
  request.changed = {{"nodes", std::to_string(run.nodes)},
                     {"gpus_per_node", std::to_string(run.gpus_per_node)}};
  if (!run.nic_bandwidth.empty()) request.changed.push_back({"nic_bandwidth", run.nic_bandwidth});
  if (!run.nic_latency.empty()) request.changed.push_back({"nic_latency", run.nic_latency});
  if (!run.nccl_settings.empty()) request.changed.push_back({"nccl_settings", run.nccl_settings});
  return request;
}

std::string Request::trace_name() const {
  return !trace.empty() || payload ? trace : trace_of("v100");
}

bool Request::knows_own_gpu() const { return compute || changes_everywhere(*this, "gpu"); }

std::string Request::trace_of(std::string_view gpu) const {
  return "iteration-" + std::filesystem::path(model).filename().replace_extension().string() + "-" +
         std::string(gpu);
}

std::shared_ptr<const Stack> stack_of(const Request& request, DataFiles& files) {
  return stack_in(files.read(kStacks, stack_name(request, files), request.folder),
                  find_compressor(request.compressor), files);
}

bool stack_estimated_from(const Request& request, const std::string& source, DataFiles& files) {
  if (request.stack.empty()) return false;
  const auto stack = stack_of(request, files);
  const std::vector<std::string>& sources = stack->sources;
  return std::find(sources.begin(), sources.end(), source) != sources.end();
}

Request unseen_request(Request request, const std::string& source, DataFiles& files) {
  if (!stack_estimated_from(request, source, files)) return request;
  request.stack.clear();
  if (is_fitted(request.cluster)) return request;  // its file has the software
  DataFiles others = files.beside();               // those that are only looked at are no inputs
  for (const std::string& name : files.names(kStacks)) {
    if (!is_for_judging(name)) continue;
    const auto stack = others.parsed(others.read(kStacks, name), load_stack);
    if (std::find(stack->without.begin(), stack->without.end(), source) == stack->without.end())
      continue;
    request.stack = name;
    break;
  }
  return request;
}

std::vector<const TextFile*> RequestFiles::all() const {
  std::vector<const TextFile*> read{cluster};
  for (const TextFile* file :
       {collectives, stack, population_by_mpi, model, trace, events, costs, compressor})
    if (file != nullptr) read.push_back(file);
  return read;
}

namespace {

/// Whether the model's FLOPs may stand for its trace, in words; "" by the paper's preset, where
/// they do not.
std::string words_of_flops(const Request& request, DataFiles& files) {
  if (!request.today) return "";
  const TextFile& model = files.read(kModels, request.model, request.folder);
  if (files.parsed(model, load_model)->forward_flops() > 0)
    return request.compute ? "" : "; with --compute-seconds the model's forward_flops stand for it";
  return request.compute ? "; the model's forward_flops, which would stand for it, are all 0" : "";
}

}  // namespace

const TextFile& read_trace(const Request& request, DataFiles& files) {
  try {
    return files.read(kIterationTraces, request.trace_name(), request.folder);
  } catch (const ValueError&) {
    if (!request.trace.empty()) throw;
    // Another network's name may look alike, but its times are another network's.
    std::string own;
    const std::string begin = request.trace_of("");
    for (const std::string& name : files.names(kIterationTraces))
      if (name.starts_with(begin)) own += (own.empty() ? " (there is " : ", ") + name;
    throw ValueError("no trace of model '" + request.model + "' is named, and none has the name '" +
                     (request.today ? request.trace_of("<gpu>") : request.trace_name()) +
                     "': name a file (--trace; of measured runs the column 'trace')" + own +
                     (own.empty() ? "; `gradcast import` writes one" : ")") +
                     words_of_flops(request, files));
  }
}

std::shared_ptr<const IterationTrace> parsed_trace(const Request& request, DataFiles& files) {
  if (!request.shares_by_flops)
    return files.parsed(read_trace(request, files), load_iteration_trace);
  const TextFile& file = files.read(kModels, request.model, request.folder);
  return files.made<IterationTrace>("FLOPs of " + file.path.native(), [&] {
    return trace_by_flops(*files.parsed(file, load_model));
  });
}

bool changes_everywhere(const Request& request, std::string_view name) {
  return std::ranges::any_of(request.changed,
                             [&](const auto& property) { return property.name == name; });
}

std::string device_of_trace(const Request& request, DataFiles& files) {
  try {
    return parsed_trace(request, files)->device;
  } catch (const ValueError&) {
    return "";
  } catch (const DataError&) {
    return "";
  }
}

RequestFiles read_files(const Request& request, DataFiles& files) {
  const Compressor& compressor = known_compressor(request.compressor);
  RequestFiles read;
  if (!request.payload) {
    read.model = &files.read(kModels, request.model, request.folder);
    if (!request.shares_by_flops) read.trace = &read_trace(request, files);
  }
  read.cluster = &files.read(kClusters, request.cluster, request.folder);
  read.collectives = read_collectives(request, *read.cluster, files);
  if (const std::string name = stack_name(request, files); !name.empty())
    read.stack = &files.read(kStacks, name, request.folder);
  // A request that names no library may mean one that sends by MPI.
  if (const std::string by_mpi = population_file(Transport::Mpi);
      request.stack.empty() && transport_of(request.collective) == Transport::Nccl &&
      files.has(kStacks, by_mpi))
    read.population_by_mpi = &files.read(kStacks, by_mpi);
  if (!request.events.empty()) read.events = &files.read(kEvents, request.events);
  if (compressor.family == Family::Dense) return read;
  const Request costs = with_costs_of_compressor(request, files);
  read.costs = &files.read(kCostTables, costs.costs, costs.costs_folder);
  if (const DescribedCompressor* own = described(compressor))
    read.compressor = &files.read(kCompressorFiles, own->typed);
  return read;
}

Cluster cluster_of(const Request& request, DataFiles& files) {
  return changed_cluster(request, files.read(kClusters, request.cluster, request.folder), files);
}

int usual_wire_bytes(const Scenario& scenario, ValueType value_type) {
  if (scenario.compresses() && !scenario.sparse()) return 0;
  if (scenario.compressor->payload != nullptr) return 0;  // a formula says the bytes
  const int of_value = bytes_of_value(value_type);
  return scenario.sends_values_only() ? of_value : of_value + kBytesOfIndex;
}

Scenario make_scenario(const Request& request, DataFiles& files) {
  Scenario scenario;
  static_cast<RunChoices&>(scenario) = request;
  scenario.compressor = &known_compressor(request.compressor);
  require_formula_alone(request, *scenario.compressor);
  const std::optional<Ruled> ruled = find_ruled(request.collective);
  if (ruled) {
    if (ruled->outcome != Outcome::AllReduced && !request.payload)
      throw ValueError("collective '" + request.collective +
                       "' is one for --payload alone: a training names the library");
    scenario.library = ruled->library;
    if (scenario.library == nullptr)
      scenario.nccl = request.nccl.empty() ? kUsualNccl : parse_nccl_version(request.nccl);
    scenario.outcome = ruled->outcome;
  } else {
    scenario.collective =
        choose_collective(request.collective, *scenario.compressor, !request.payload);
  }
  const int wire_messages = request.wire_messages.value_or(1);
  if (scenario.collective != nullptr && scenario.collective->sparse && wire_messages > 1)
    throw ValueError("collective '" + request.collective +
                     "' carries index-value pairs: values and indices apart (2 wire messages) do "
                     "not go with it");
  if (scenario.sends_values_only() && wire_messages > 1)
    throw ValueError(
        "collective '" + request.collective + "' adds up the values of '" + request.compressor +
        "', and no indices travel: values and indices apart (2 wire messages) do not go "
        "with it");
  if (request.payload) {
    if (request.accumulation > 1)
      throw ValueError("a collective alone has no micro-steps: leave accumulation out");
    if (scenario.compresses())
      throw ValueError("a collective alone compresses nothing: leave compressor '" +
                       request.compressor +
                       "' out, and name an all-gather as the collective where one is meant");
    scenario.payload = *request.payload;
  }
  const RequestFiles read = read_files(request, files);
  if (!request.payload) {
    scenario.model = files.parsed(*read.model, load_model);
    scenario.trace = parsed_trace(request, files);
    const int batch = request.batch.value_or(scenario.trace->batch);
    if (batch % request.accumulation != 0)
      throw ValueError("a batch of " + std::to_string(batch) + " is not divided by " +
                       std::to_string(request.accumulation) +
                       " micro-steps (accumulation): choose another of the two");
    if (batch / request.accumulation != scenario.trace->batch)
      scenario.trace = with_batch(scenario.trace, batch / request.accumulation);
    if (request.optimizer && scenario.trace->optimizer != request.optimizer)
      scenario.trace = with_optimizer(scenario.trace, *request.optimizer);
    scenario.optimizer =
        request.optimizer.value_or(scenario.trace->optimizer.value_or(scenario.optimizer));
    if (request.compute)
      scenario.trace = scaled_to(scenario.trace, *request.compute, request.accumulation);
  }
  scenario.cluster = changed_cluster(request, *read.cluster, files);
  if (scenario.nccl) require_rccls_gpus(scenario.cluster, *scenario.nccl, ruled && ruled->rccl);
  scenario.stated = software_of_file(scenario);
  for (const ClusterProperty& property : request.changed) scenario.stated.push_back(property.name);
  // The kernel limits every library's sockets. Gloo has no other way, on any network; past the host
  // goes NCCL's plugin alone. A share of the NIC that somebody typed has the sockets' rate in it,
  // and so has that of a file of such a network. On another network it is that of another way.
  const NetworkKind kind = network_kind_of(scenario.cluster);
  const bool sockets = scenario.library == nullptr
                           ? scenario.nccl && kind == NetworkKind::Tcp
                           : kind == NetworkKind::Tcp || kind == NetworkKind::GpudirectTcp ||
                                 scenario.library->name == "gloo";
  const bool typed = changes_everywhere(request, "nic_share");
  const bool of_file = kind == NetworkKind::Tcp && scenario.cluster.nic_share != 1;
  // So has the rate of a host's CPU that somebody typed, or that the file has.
  const bool by_host = scenario.cluster.host_bandwidth.value > 0;
  scenario.cluster.by_sockets = sockets && !typed && !of_file && !by_host;
  if (scenario.low_rank()) require_matrices(request, scenario);
  set_training(request, scenario);
  // Gloo's gradients lie in the host's memory.
  const bool in_host = scenario.library != nullptr && scenario.library->name == "gloo";
  if ((scenario.sharding.kind == Sharding::Fsdp || !in_host) && files.has(kDevices, "devices"))
    scenario.gpu_memory = gpu_memory_of(request, scenario, files);
  bound_compute(scenario, request, files);
  if (read.events != nullptr) scenario.world = load_events(*read.events, scenario.cluster);
  scenario.world.concurrent_jobs = request.concurrent_jobs;
  if (read.costs != nullptr) {
    require_same_fit(*read.cluster, *read.costs, files.sha256_of(read.costs->path));
    const Request costs = with_costs_of_compressor(request, files);
    scenario.costs = cost_table_of(costs, *read.costs, files);
    // Engines divide a GPU's work by its speed, and these costs have that speed already.
    const double speed = scenario.cluster.compute_speed;
    if (speed != 1 && costs_of_clusters_gpu(costs, scenario, files))
      scenario.costs = times_as_long(scenario.costs, speed);
  }
  scenario.parameter = parameter_of(*scenario.compressor, request.parameter);
  // There is no k that is asked for: the density is the share that is sent.
  if (scenario.compressor->parameter.selects && !request.sent_share) scenario.sent_share = 1;
  // A training by another's mathematics may name its mode, and costs of its own have none.
  scenario.mode = described(*scenario.compressor) != nullptr ? "" : request.mode;
  scenario.wire_bytes_per_element =
      request.wire_bytes_per_element.value_or(usual_wire_bytes(scenario, request.value_type));
  scenario.wire_messages = wire_messages;
  scenario.broadcast_buffers =
      request.broadcast_buffers.value_or(false) && scenario.sharding.kind != Sharding::Fsdp;
  scenario.network_streams = request.network_streams.value_or(1);
  if (read.stack != nullptr)
    (request.stack.empty() ? scenario.population : scenario.stack) =
        stack_in(*read.stack, scenario.compressor, files);
  if (const auto& stack = scenario.stack;
      stack != nullptr && !request.payload && stack->terms.empty() && stack->kinds.empty())
    throw ValueError("stack '" + request.stack +
                     "' knows collectives alone (payload), and no training: name one that trains, "
                     "like ddp-nccl, or none for physics alone");
  if (read.population_by_mpi != nullptr)
    scenario.population_by_mpi = stack_in(*read.population_by_mpi, scenario.compressor, files);
  apply_stack(scenario);
  return scenario;
}

}  // namespace gradcast
