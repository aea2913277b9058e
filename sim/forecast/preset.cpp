#include "sim/forecast/preset.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/network/nccl_rule.hpp"

namespace gradcast {
namespace {

constexpr const char* kTodaysStack = "stack-ddp-nccl";
/// NCCL alone, as nccl-tests runs it.
constexpr const char* kCollectivesStack = "stack-nccl";

/// A GPU with traces, by its data sheet's memory bandwidth in GB/s: what most of a network's time
/// goes by.
struct TracedGpu {
  std::string_view name;
  GpuGeneration generation;
  double memory;
};
constexpr std::array<TracedGpu, 3> kTracedGpus = {{{"h100", GpuGeneration::Hopper, 3350},
                                                   {"a100", GpuGeneration::Ampere, 2039},
                                                   {"v100", GpuGeneration::Volta, 900}}};
constexpr double kBlackwellMemory = 8000;

double memory_of(GpuGeneration generation) {
  for (const TracedGpu& gpu : kTracedGpus)
    if (gpu.generation == generation) return gpu.memory;
  return kBlackwellMemory;
}

bool is_known(const DataFiles& files, const DataKind& kind, const std::string& name) {
  const std::vector<std::string>& names = files.names(kind);
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// True where the cluster's file says already what its software costs, or who says the times.
bool speaks_for_itself(const Request& request) {
  const std::string name = request.cluster;
  return name.ends_with(".xml") || name.ends_with("-fitted") || name.ends_with("-fitted.csv");
}

bool changes(const Request& request, std::string_view property) {
  return std::any_of(request.changed.begin(), request.changed.end(), [&](const auto& changed) {
    return changed.name.substr(0, changed.name.find('@')) == property;
  });
}

/// The trace of the cluster's GPUs; else that of the nearest generation, scaled.
void choose_trace(Request& request, const Cluster& cluster, const DataFiles& files) {
  const std::string begin =
      "iteration-" + std::filesystem::path(request.model).filename().replace_extension().string() +
      "-";
  const GpuGeneration own = gpu_generation_of(cluster);
  std::vector<TracedGpu> nearest(kTracedGpus.begin(), kTracedGpus.end());
  std::stable_sort(nearest.begin(), nearest.end(), [&](const TracedGpu& a, const TracedGpu& b) {
    const auto far = [&](const TracedGpu& gpu) {
      return std::abs(static_cast<int>(gpu.generation) - static_cast<int>(own));
    };
    return far(a) < far(b);
  });
  for (const TracedGpu& gpu : nearest) {
    const std::string name = begin + std::string(gpu.name);
    if (!is_known(files, kIterationTraces, name)) continue;
    request.trace = name;
    if (gpu.generation != own && !request.compute && !changes(request, "compute_speed"))
      request.changed.push_back(
          {"compute_speed", number_to_text(rounded_to(3, memory_of(own) / gpu.memory))});
    return;
  }
}

Request with_todays(Request request, DataFiles& files) {
  if (speaks_for_itself(request)) return request;
  const char* stack = request.payload ? kCollectivesStack : kTodaysStack;
  if (!request.stack_given && is_known(files, kStacks, stack)) request.stack = stack;
  request = with_usual_schedule(std::move(request), files);
  const bool open = request.stack.empty() || !stack_of(request, files)->schedule;
  // A stack that has a schedule without a collective, such as MPI's, sends by the compressor's
  // ring.
  if (open && request.collective.empty()) request.collective = "nccl";
  if (request.payload) return request;
  if (open && !request.best_schedule) {
    if (!request.fusion_given && request.sharding.kind != Sharding::Fsdp)
      request.fusion = parse_fusion("ddp");
    if (!request.overlap_given) request.overlap = true;
  }
  if (request.trace.empty()) choose_trace(request, cluster_of(request, files), files);
  return request;
}

std::string software_words(const Request& request, const Scenario& scenario) {
  const std::string stack = request.stack.starts_with(kStacks.prefix)
                                ? request.stack.substr(kStacks.prefix.size())
                                : request.stack;
  if (stack.empty() && request.cluster.find("-fitted") != std::string::npos)
    return "the software that the cluster was fitted with";
  if (stack.empty()) return "no software's costs";
  if (stack == "ddp-nccl")
    return scenario.sharding.kind == Sharding::None ? "PyTorch DDP"
                                                    : "PyTorch, sharded, with DDP's costs";
  if (stack == "nccl") return "a collective alone";
  return "the software of " + stack;
}

std::string schedule_words(const Scenario& scenario) {
  std::string words;
  if (scenario.payload.count > 0) return words;
  if (scenario.sharding.kind != Sharding::Fsdp) {
    const std::string fusion = to_text(scenario.fusion);
    words = fusion == "ddp"      ? ", buckets of 25 MiB"
            : fusion == "merged" ? ", all gradients in one"
            : fusion == "layer"  ? ", each tensor by itself"
                                 : ", buckets by " + fusion;
  }
  return words + (scenario.overlap ? ", overlapped with backward" : ", after backward");
}

}  // namespace

Preset parse_preset(std::string_view text) {
  if (text == "today") return Preset::Today;
  if (text == "paper") return Preset::Paper;
  throw ValueError("'" + std::string(text) + "' is not 'today' or 'paper'");
}

Request with_defaults(Request request, DataFiles& files) {
  request = request.today ? with_todays(std::move(request), files)
                          : with_usual_schedule(std::move(request), files);
  return with_usual_costs(std::move(request), files);
}

std::string assumed_words(const Request& request, const Scenario& scenario) {
  std::string words = software_words(request, scenario);
  const Cluster& cluster = scenario.cluster;
  if (scenario.nccl)
    words += " on NCCL " + to_text(*scenario.nccl);
  else if (scenario.collective != nullptr)
    words += " by " + std::string(scenario.collective->name);
  if (cluster.nodes > 1)
    words +=
        " over " +
        (cluster.nics_per_node == 1 ? "1 NIC" : std::to_string(cluster.nics_per_node) + " NICs") +
        " of " + to_text(cluster.nic.bandwidth) + " a node";
  words += schedule_words(scenario);
  for (const ClusterProperty& changed : request.changed)
    if (request.today && changed.name == "compute_speed")
      words += "; times of " + request.trace + " at " + changed.value +
               " times the speed (derived: memory bandwidths)";
  return words;
}

}  // namespace gradcast
