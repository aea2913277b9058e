#include "sim/forecast/preset.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/inputs/collective_curve.hpp"
#include "sim/inputs/cost_transfer.hpp"
#include "sim/network/collective_choice.hpp"
#include "sim/network/nccl_of_torch.hpp"
#include "sim/network/nccl_rule.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
namespace {

constexpr const char* kTodaysStack = "stack-ddp-nccl";

/// The software that has a sharding: FSDP2 is not built on DDP, and ZeRO-2 is DeepSpeed's name.
const char* todays_stack(const ShardingChoice& sharding) {
  return sharding.kind == Sharding::Fsdp    ? "stack-fsdp2-nccl"
         : sharding.kind == Sharding::Zero2 ? "stack-deepspeed-zero"
                                            : kTodaysStack;
}

/// NCCL alone, as nccl-tests runs it. How far its forecasts are off depends on the network. RCCL
/// has too few logs to tell networks from each other.
const char* collectives_stack(const Cluster& cluster) {
  if (is_amd(gpu_generation_of(cluster)))
    return cluster.nodes == 1 ? "stack-nccl-rccl-node" : "stack-nccl-rccl";
  if (cluster.nodes == 1) return "stack-nccl-node";
  switch (network_kind_of(cluster)) {
    case NetworkKind::Efa:
      return "stack-nccl-efa";
    case NetworkKind::Slingshot:
      return "stack-nccl-slingshot";
    case NetworkKind::Tcp:
    case NetworkKind::GpudirectTcp:
      return "stack-nccl-tcp";
    default:
      return "stack-nccl";
  }
}

/// A GPU that traces are named after, and its row in traces/devices.csv. The first of a generation
/// stands for it.
struct Gpu {
  GpuGeneration generation;
  std::string_view trace;  // "": no traces
  std::string_view device;
};
constexpr std::array<Gpu, 8> kGpus = {{{GpuGeneration::Hopper, "h100", "h100-sxm"},
                                       {GpuGeneration::Ampere, "a100", "a100-80gb"},
                                       {GpuGeneration::Ampere, "rtx-3090", "rtx-3090"},
                                       {GpuGeneration::Volta, "v100", "v100"},
                                       {GpuGeneration::Blackwell, "", "b200"},
                                       {GpuGeneration::Cdna2, "", "mi250x"},
                                       {GpuGeneration::Cdna3, "", "mi300x"},
                                       {GpuGeneration::Cdna4, "", "mi355x"}}};

const Gpu& usual_gpu(GpuGeneration generation) {
  return *std::find_if(kGpus.begin(), kGpus.end(),
                       [&](const Gpu& each) { return each.generation == generation; });
}

/// " for a v100, as nothing names the GPUs (--gpu does)"; "" where the cluster does.
std::string unnamed_gpu(const Cluster& cluster) {
  if (!cluster.gpu.empty() || cluster.gpu_generation != GpuGeneration::Unknown) return "";
  return " for a " + std::string(usual_gpu(gpu_generation_of(cluster)).device) +
         ", as nothing names the GPUs (--gpu does)";
}

/// The rate of a network's arithmetic, on tensor cores if there are any, else of fp32; 0: not
/// known. `single`: of one that is trained in fp32.
double arithmetic_of(const Device& device, bool single) {
  const std::optional<FlopsPerSecond>& of_tensor_cores = single ? device.tf32 : device.fp16;
  const std::optional<FlopsPerSecond>& rate = of_tensor_cores ? of_tensor_cores : device.fp32;
  return rate ? rate->value : 0;
}

/// GPUs that take the same time for a trace: an A100 of 40 or 80 GB, an H200 and an H100.
bool alike(const Device& one, const Device& other) {
  return one.name == other.name ||
         (one.fp32 && one.fp32 == other.fp32 && one.tf32 == other.tf32 && one.fp16 == other.fp16);
}

/// A trace that may be carried over to another GPU.
struct Carried {
  const Model& model;
  const IterationTrace& trace;
  const Device& device;

  bool in_fp32() const { return trace.in_fp32(); }

  /// True of a network whose arithmetic is convolutions. Between them it normalises, which reads
  /// and writes memory alone.
  bool convolves() const {
    constexpr std::size_t kOfConvolution = 4;
    double convolutions = 0;
    for (const GradientTensor& tensor : model.tensors)
      if (tensor.shape.size() == kOfConvolution) convolutions += tensor.forward_flops;
    return 2 * convolutions > model.forward_flops();
  }

  /// The share that it reaches of its GPU's arithmetic.
  double utilisation() const {
    return 3 * model.forward_flops() * trace.batch /
           (trace.iteration_alone(1).count() * arithmetic_of(device, in_fp32()));
  }
};

/// A GPU's speed over that of the trace's. A convolutional network takes what the scarcer of memory
/// and arithmetic allows: ResNet-50 in mixed precision is no faster on a V100 than on an RTX 3090,
/// which has 0.57 of its arithmetic (traces/unseen-trainings.csv: 740 to 872 and 1027 to 1182
/// images/s). Others take the geometric mean, as memory binds some of their operators and
/// arithmetic the rest. They reach 0.6 of the arithmetic at most, or the share that the trace
/// reaches. GPUs of the trace's generation with its arithmetic take its times (an A100 of 40 or 80
/// GB, an H200 and an H100).
double times_as_fast(const Device& own, const Device& usual, const Carried& carried) {
  constexpr double kMostUsed = 0.6;
  const Device& traced = carried.device;
  const bool same = own.fp16 && usual.fp16 && own.fp16->value == usual.fp16->value;
  const Device& rated = same && &traced == &usual ? usual : own;
  const double memory = rated.memory_bandwidth.value / traced.memory_bandwidth.value;
  const double mine = arithmetic_of(rated, carried.in_fp32());
  const double its = arithmetic_of(traced, carried.in_fp32());
  if (!(mine > 0 && its > 0)) return memory;
  const double arithmetic = mine / its;
  const double utilisation = carried.utilisation();
  if (carried.in_fp32() || carried.convolves() || !(utilisation > 0))
    return std::min(memory, arithmetic);
  return std::min(std::sqrt(memory * arithmetic),
                  arithmetic * std::max(1.0, kMostUsed / utilisation));
}

/// The request's trace, as `device` is known; none where its file or its model's is wrong: the
/// forecast says so.
template <class Use>
void with_carried(const Request& request, DataFiles& files, const Device& device, const Use& use) {
  try {
    const auto model = files.parsed(files.read(kModels, request.model, request.folder), load_model);
    use(Carried{*model, *parsed_trace(request, files), device});
  } catch (const ValueError&) {
  } catch (const DataError&) {
  }
}

/// True if the cluster's file says what its software costs, or is SimGrid's.
bool speaks_for_itself(const Request& request) {
  return request.cluster.ends_with(".xml") || is_fitted(request.cluster);
}

/// Distance between two GPUs' memory and arithmetic, in logarithms. Rates that are not known have
/// none.
double apart(const Device& one, const Device& other) {
  const auto between = [](double a, double b) {
    return a > 0 && b > 0 ? std::abs(std::log(a / b)) : 0;
  };
  return between(one.memory_bandwidth.value, other.memory_bandwidth.value) +
         between(arithmetic_of(one, false), arithmetic_of(other, false));
}

/// Says that the trace is another GPU's, and how fast the cluster's is. Speeds of single nodes
/// count from there.
void scale_trace(Request& request, const Cluster& cluster, double speed) {
  constexpr std::string_view kSpeed = "compute_speed";
  speed = rounded_to(3, speed);
  const auto scaled = [&](const std::string& value) {
    return number_to_text(parse_speed(value) * speed);
  };
  for (const NodeOverride& node : cluster.overrides())
    if (node.property == kSpeed) {
      std::erase_if(request.changed, [&](const auto& each) { return each.name == node.name(); });
      request.changed.push_back({node.name(), scaled(node.value)});
    }
  request.changed.push_back({std::string(kSpeed), number_to_text(speed)});
  request.others_trace = request.speed_derived = true;
}

/// True where somebody says how fast all the cluster's GPUs are beside the trace's.
bool says_speed(const Request& request, const Cluster& cluster) {
  return cluster.compute_speed != 1 || changes_everywhere(request, "compute_speed");
}

/// The trace of the cluster's GPUs; else that of the nearest, scaled. A trace of the own generation
/// comes first. A V100's, which is of fp32, comes last but for GPUs without tensor cores, and for
/// V100s whose iteration is measured: to it layers lend their shares alone.
void choose_trace(Request& request, const Cluster& cluster, const DataFiles& files) {
  DataFiles others = files.beside();  // the answer names the factor, and not this file
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  const auto device = [&](const Gpu& gpu) -> const Device& {
    return device_named(*devices, std::string(gpu.device));
  };
  const GpuGeneration generation = gpu_generation_of(cluster);
  const Device& own = gpu_of(cluster, *devices);
  constexpr double kLeastOfTensorCores = 3;  // times the rate of fp32; a P100's fp16 has 2
  const bool without_tensor_cores =
      own.fp32 && !own.tf32 &&
      (!own.fp16 || own.fp16->value < kLeastOfTensorCores * own.fp32->value);
  const auto rank = [&](const Gpu& gpu) {
    const bool of_fp32 = gpu.generation == GpuGeneration::Volta;
    const bool own_kind = without_tensor_cores ? of_fp32 : gpu.generation == generation;
    const bool shares_alone = request.compute && alike(own, device(gpu));
    const bool old = of_fp32 && !without_tensor_cores && !shares_alone;
    return std::pair(old ? 2 : own_kind ? 0 : 1, apart(own, device(gpu)));
  };
  std::array<Gpu, kGpus.size()> nearest = kGpus;
  std::stable_sort(nearest.begin(), nearest.end(),
                   [&](const Gpu& a, const Gpu& b) { return rank(a) < rank(b); });
  for (const Gpu& gpu : nearest) {
    if (gpu.trace.empty() || !files.has(kIterationTraces, request.trace_of(gpu.trace))) continue;
    request.trace = request.trace_of(gpu.trace);
    double speed = 1;
    with_carried(request, others, device(gpu), [&](const Carried& carried) {
      speed = times_as_fast(own, device(usual_gpu(generation)), carried);
    });
    if (gpu.generation == generation && speed == 1) return;
    request.others_trace = true;
    if (!request.compute && !says_speed(request, cluster)) scale_trace(request, cluster, speed);
    return;
  }
}

/// Scales a trace that was named from its GPU to the cluster's, where both are known and differ.
/// Whoever says how fast the cluster's computes has done so already.
void carry_over(Request& request, const Cluster& cluster, DataFiles& files) {
  if (!names_gpu(cluster) || request.compute || says_speed(request, cluster)) return;
  DataFiles others = files.beside();  // the answer names the factor, and not this file
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  const Device& own = gpu_of(cluster, *devices);
  const Device* traced = device_meant(*devices, device_of_trace(request, others));
  if (traced == nullptr || alike(own, *traced)) return;
  double speed = 1;
  with_carried(request, others, *traced,
               [&](const Carried& carried) { speed = times_as_fast(own, own, carried); });
  if (speed != 1) scale_trace(request, cluster, speed);
}

/// Takes the model's FLOPs for its trace, where it has none and somebody says how long it computes.
void share_by_flops(Request& request, const DataFiles& files) {
  if (!request.trace.empty() || !request.compute ||
      files.has(kIterationTraces, request.trace_name()))
    return;
  DataFiles others = files.beside();
  try {
    const TextFile& model = others.read(kModels, request.model, request.folder);
    if (!(others.parsed(model, load_model)->forward_flops() > 0)) return;
  } catch (const ValueError&) {  // the forecast says that there is no such model
    return;
  }
  request.shares_by_flops = request.others_trace = true;
}

Request with_todays(Request request, DataFiles& files) {
  if (speaks_for_itself(request)) return request;
  const char* stack = request.payload ? collectives_stack(cluster_of(request, files))
                                      : todays_stack(request.sharding);
  if (!request.stack_given && files.has(kStacks, stack)) request.stack = stack;
  request = with_usual_schedule(std::move(request), files);
  const bool open = request.stack.empty() || !stack_of(request, files)->schedule;
  // A stack that has a schedule without a collective, such as the paper's, sends by the
  // compressor's ring.
  if (open && request.collective.empty()) request.collective = "nccl";
  if (request.payload) return request;
  if (open && !request.broadcast_buffers) request.broadcast_buffers = true;
  if (open && !request.best_schedule) {
    if (!request.fusion_given && request.sharding.kind != Sharding::Fsdp)
      request.fusion = parse_fusion("ddp");
    if (!request.overlap_given) request.overlap = true;
  }
  const Cluster cluster = cluster_of(request, files);
  if (request.trace.empty())
    choose_trace(request, cluster, files);
  else
    carry_over(request, cluster, files);
  share_by_flops(request, files);
  return request;
}

/// " of PyTorch 2.5" where the version was named so.
std::string of_torch(const std::string& nccl) {
  return nccl.starts_with(kTorchPrefix) ? " of PyTorch " + nccl.substr(kTorchPrefix.size()) : "";
}

std::string software_words(const Request& request, const Scenario& scenario) {
  const std::string stack = stack_label(request.stack);
  if (stack.empty() && is_fitted(request.cluster))
    return "the software that the cluster was fitted with";
  if (stack.empty()) return "no software's costs";
  const Sharding kind = scenario.sharding.kind;
  if (stack == "ddp-nccl" && kind == Sharding::None) return "PyTorch DDP";
  if (stack == "ddp-nccl" && kind == Sharding::Zero1)
    return "PyTorch DDP and ZeroRedundancyOptimizer";
  if (stack == "deepspeed-zero" && (kind == Sharding::Zero1 || kind == Sharding::Zero2))
    return kind == Sharding::Zero1 ? "DeepSpeed ZeRO-1" : "DeepSpeed ZeRO-2";
  if (stack == "deepspeed-zero3" && kind == Sharding::Fsdp) return "DeepSpeed ZeRO-3";
  if (stack == "fsdp2-nccl" && scenario.sharding.kind == Sharding::Fsdp)
    return "PyTorch FSDP2" + std::string(scenario.sharding.hybrid ? " (hsdp)" : "");
  if (stack.starts_with("nccl")) return "a collective alone";
  const bool sharded = scenario.sharding.kind != Sharding::None && scenario.payload.count == 0;
  return "the software of " + stack +
         (sharded ? " (sharding " + to_text(scenario.sharding) + ")" : "");
}

/// FSDP over all ranks gathers and scatters, by collectives that no flag names.
bool gathers_alone(const Scenario& scenario) {
  return scenario.sharding.kind == Sharding::Fsdp && !scenario.sharding.hybrid;
}

/// NICs through which a node's ranks send: GPU i has NIC i mod their number. By NCCL's rule, and
/// where the fastest is chosen, these are all; a ring leaves a node through one GPU.
int nics_used(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const Collective* collective = gathers_alone(scenario) ? nullptr : scenario.collective;
  constexpr Bytes kBucket{25 << 20};
  if (collective == nullptr && scenario.library != nullptr)
    collective =
        scenario.library->choose(cluster, scenario.outcome, cluster.ranks(), kBucket).collective;
  if (collective == nullptr || !cluster.nodes_alike()) return cluster.nics_per_node;
  constexpr int kFewNodes = 4;
  const RankLayout layout = even_layout(std::min(cluster.nodes, kFewNodes), cluster.gpus_per_node);
  std::set<std::pair<int, int>> used;  // node, NIC
  for (const Phase& phase :
       collective->phases(layout, {.payload = kBucket, .elements = kBucket.count / 4}))
    for (const Message& message : phase.messages) {
      const int node = message.from / cluster.gpus_per_node;
      if (message.to / cluster.gpus_per_node != node)
        used.insert({node, message.from % cluster.gpus_per_node % cluster.nics_per_node});
    }
  int most = 1;
  for (int node = 0; node < layout.nodes(); ++node)
    most = std::max(
        most, static_cast<int>(std::count_if(
                  used.begin(), used.end(), [&](const auto& each) { return each.first == node; })));
  // A GPU with several NICs sends by all of them.
  return cluster.nics_per_node > cluster.gpus_per_node
             ? most * cluster.nics_per_node / cluster.gpus_per_node
             : most;
}

/// A cluster's file that gives neither the kind of network nor a latency leaves it to a guess.
std::string guessed_network(const Cluster& cluster) {
  if (cluster.network_kind != NetworkKind::Unknown || cluster.nic.latency > Seconds{0}) return "";
  return ", taken for InfiniBand (network_kind says otherwise)";
}

/// "25 MiB", "1000 MB".
std::string size_words(const Scenario& scenario) {
  constexpr std::int64_t kMega = 1'000'000;
  const std::int64_t bytes = scenario.fusion.size.count;
  if (bytes % kMega == 0) return std::to_string(bytes / kMega) + " MB";
  std::string text = to_text(scenario.fusion.size);
  return text.insert(text.find_first_not_of("0123456789."), " ");
}

std::string schedule_words(const Scenario& scenario) {
  std::string words;
  if (scenario.payload.count > 0) return words;
  if (scenario.sharding.kind != Sharding::Fsdp) {
    const std::string fusion = to_text(scenario.fusion);
    const Fusion::Kind kind = scenario.fusion.kind;
    words = fusion == "merged"  ? ", all gradients in one"
            : fusion == "layer" ? ", each tensor by itself"
            : kind == Fusion::Kind::Size || kind == Fusion::Kind::Ddp
                ? ", buckets of " + size_words(scenario)
                : ", buckets by " + fusion;
    if (scenario.fusion.finds_unused) words += " with find_unused_parameters";
  }
  // One bucket of all gradients is full when backward is over.
  const bool merged =
      scenario.sharding.kind != Sharding::Fsdp && scenario.fusion.kind == Fusion::Kind::Merged;
  if (!scenario.overlap || merged) return words + ", after backward";
  words += ", overlapped with backward";
  if (scenario.network_streams > 1)
    words += ", " + std::to_string(scenario.network_streams) + " collectives at a time";
  const double late = scenario.sharding.kind == Sharding::Fsdp ? 0 : scenario.cluster.late_start;
  return late > 0 ? words + " once " + percent_to_text(rounded_to(2, late)) + " of it is over"
                  : words;
}

/// "fp32" or "mixed precision": in which a trace of the project's computes, where nobody said how
/// long that takes; "" of others, which need not say it.
std::string computing_types(const Request& request, const IterationTrace& trace) {
  if (!request.today || request.compute || is_path(request.trace)) return "";
  if (trace.activation_type)
    return *trace.activation_type == NumberType::Fp32 ? "fp32" : "mixed precision";
  return trace.in_fp32() ? "fp32" : "";
}

}  // namespace

bool names_gpu(const Cluster& cluster) {
  return !cluster.gpu.empty() || cluster.gpu_generation != GpuGeneration::Unknown;
}

const Device& gpu_of(const Cluster& cluster, const std::vector<Device>& devices) {
  if (!cluster.gpu.empty()) {
    if (const Device* named = device_meant(devices, cluster.gpu)) return *named;
    std::vector<std::string> known;
    for (const Device& device : devices) known.push_back(device.name);
    throw ValueError("gpu '" + cluster.gpu + "' is none of traces/devices.csv" +
                     did_you_mean(cluster.gpu, known) + " (" + join(known) +
                     "; none: the usual one of gpu_generation)");
  }
  return device_named(devices, std::string(usual_gpu(gpu_generation_of(cluster)).device));
}

Preset parse_preset(std::string_view text) {
  if (text == "today") return Preset::Today;
  if (text == "paper") return Preset::Paper;
  throw ValueError("'" + std::string(text) + "' is not 'today' or 'paper'");
}

Request with_defaults(Request request, DataFiles& files) {
  request = with_fitted_collective(std::move(request), files);
  request = request.today ? with_todays(std::move(request), files)
                          : with_usual_schedule(std::move(request), files);
  return with_usual_costs(std::move(request), files);
}

Request request_of(const MeasuredRun& run, DataFiles& files, const std::string& stack) {
  Request request = with_fitted_collective(as_written(run), files);
  if (speaks_for_itself(request)) return request;
  Request of = request;  // whose software makes the open choices
  const bool known =
      is_path(of.stack) || files.has(kStacks, std::string(kStacks.prefix) + of.stack);
  if (!known) of.stack = stack;  // none, or a name of the user's own
  if (of.stack.empty()) return request;
  const std::optional<UsualSchedule> usual = stack_of(of, files)->schedule;
  if (usual && usual->collective.empty()) return request;
  if (request.collective.empty()) request.collective = usual ? usual->collective : "nccl";
  if (usual && !request.network_streams && request.collective == usual->collective)
    request.network_streams = usual->network_streams;
  if (request.payload) return request;
  if (usual) take_usual_sharding(request, *usual);
  if (request.trace.empty()) choose_trace(request, cluster_of(request, files), files);
  if (!run.costs.empty()) return request;
  request.costs.clear();
  request.costs_folder.clear();
  request.today = true;
  return with_usual_costs(std::move(request), files);
}

std::string compressing_words(const Request& request) {
  const bool by_own =
      request.implementation.empty() || request.implementation == kCudaImplementation;
  return request.today && request.costs == kDerivedCosts && request.costs_device != kCpu && by_own
             ? "; compressing by gradcast's kernels, timed on a simulated V100 alone "
               "(--implementation torch takes PyTorch's operators)"
             : "";
}

std::string assumed_words(const Request& request, const Scenario& scenario) {
  std::string words = software_words(request, scenario);
  const Cluster& cluster = scenario.cluster;
  const bool rccl = scenario.nccl && is_amd(gpu_generation_of(cluster));
  if (scenario.nccl)
    words += " on " + std::string(library_name(cluster)) + " " + to_text(*scenario.nccl) +
             of_torch(request.nccl) +
             (cluster.nccl_settings.text.empty() ? "" : " (" + cluster.nccl_settings.text + ")");
  else if (scenario.library != nullptr)
    words += " on " + std::string(scenario.library->words);
  else if (scenario.collective != nullptr && !gathers_alone(scenario))
    words += " by " + std::string(scenario.collective->name);
  if (cluster.nodes > 1 && cluster.platform_file.empty()) {
    const int all = cluster.nics_per_node;
    const int used = all == 1 ? 1 : nics_used(scenario);
    words +=
        " over " +
        (all == 1
             ? "1 NIC"
             : (used == all ? "" : std::to_string(used) + " of ") + std::to_string(all) + " NICs") +
        " of " + to_text(cluster.nic.bandwidth) + " a node" + guessed_network(cluster) +
        (scenario.nccl && !rccl && cluster.network_sharp == YesNo::Yes ? ", to switches that add up"
                                                                       : "");
  }
  words += schedule_words(scenario);
  if (cluster.measured != nullptr && cluster.ranks() > 1) {
    const CollectiveChoice choice(cluster, scenario.nccl, scenario.library);
    words += "; " +
             (scenario.collective != nullptr
                  ? "measured times unused: the collective is named"
                  : choice.measured_words(scenario.outcome, scenario.payload)) +
             " (" + cluster.measured->file + ")";
  }
  if (scenario.payload.count == 0 && !scenario.model->sample.empty())
    words += "; a sample is a " + scenario.model->sample + ", of which a GPU has " +
             std::to_string(scenario.batch());
  const std::string types =
      scenario.payload.count > 0 ? "" : computing_types(request, *scenario.trace);
  if (request.speed_derived)
    words += "; times of " + request.trace + " at " + number_to_text(cluster.compute_speed) +
             " times the speed" + unnamed_gpu(cluster) + " (" +
             (types.empty() ? "" : "they are of " + types + "; ") +
             "derived: memory and arithmetic; --compute-seconds takes a measured time)";
  else if (!types.empty())
    words += "; computing in " + types;
  if (scenario.work_of_launching < 1)
    words +=
        "; the GPU waits for its host to launch kernels (0.1 ms a tensor or less: PyTorch without "
        "graphs)";
  if (scenario.compresses()) words += compressing_words(request);
  if (request.shares_by_flops)
    words += "; no trace is there: --compute-seconds is shared out by the model's " +
             std::string(kByFlops);
  const bool timed = cluster.measured != nullptr && scenario.payload.count > 0;
  const bool learned = scenario.stack != nullptr && scenario.stack->factor;
  if (is_amd(gpu_generation_of(cluster)) && scenario.stack != nullptr && !timed && !learned)
    words +=
        "; the software's costs and the interval come from NVIDIA's GPUs: none was measured on "
        "AMD's";
  if (learned && is_learned_elsewhere(*scenario.stack, cluster))
    words += "; software as learned on " + join(scenario.stack->learned_on) +
             ", without the factors of that cluster";
  return words;
}

}  // namespace gradcast
