// `gradcast list`: the contents of this build and its data folders.
#include "kernels/compressor.hpp"
#include "kernels/gpu.hpp"
#include "sim/answers/answer.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/time_unit.hpp"
#include "sim/engine/engine.hpp"
#include "sim/fit/structure.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/collective_curve.hpp"
#include "sim/inputs/compressor_file.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_holdout.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/inputs/model.hpp"
#include "sim/inputs/world.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/library_rule.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast::commands {
namespace {

struct Entry {
  std::string kind;
  std::string name;
  std::string what;
};

std::string millions(std::int64_t elements) {
  return fixed(static_cast<double>(elements) / 1e6, 2) + " M parameters";
}

/// Files of one kind, each described by what is in it; a broken one is listed with its complaint.
template <class Describe>
void add_files(std::vector<Entry>& entries, DataFiles& files, const DataKind& kind,
               Describe describe) {
  for (const std::string& name : files.names(kind)) {
    if (is_for_judging(name)) continue;
    std::string what;
    try {
      what = describe(files.read(kind, name));
    } catch (const DataError& error) {
      what = std::string("BROKEN: ") + error.what();
    }
    entries.push_back({std::string(kind.what), name, what});
  }
}

std::string describe_model(const TextFile& file) {
  const Model model = load_model(file);
  return millions(model.elements()) + " in " + std::to_string(model.tensors.size()) + " tensors, " +
         fixed(model.forward_flops() / 1e9, 2) + " GFLOP a sample forward";
}

std::string describe_trace(const TextFile& file) {
  const IterationTrace trace = load_iteration_trace(file);
  return trace.device + ", batch " + std::to_string(trace.batch) + ", " +
         time_text(trace.iteration()) + " an iteration";
}

std::string describe_costs(const TextFile& file) {
  const CostTable table = load_cost_table(file);
  std::vector<std::string> compressors;
  for (const CostRow& row : table.rows)
    if (compressors.empty() || compressors.back() != row.compressor)
      compressors.push_back(row.compressor);
  std::string what = std::to_string(table.rows.size()) + " rows: " + join(compressors);
  const HoldOut held_out = held_out_error(table);
  const ErrorSummary& errors = held_out.errors;
  if (errors.rows > 0)
    what += "; held-out error of interpolation: median " + fixed(errors.median_absolute, 1) +
            " %, 90th percentile " + fixed(errors.p90_absolute, 1) + " %, worst " +
            with_sign(errors.worst, 0) + " % (" + held_out.worst_where + ")";
  return what;
}

std::string describe_measured(const TextFile& file) {
  return std::to_string(load_measured_runs(file).runs.size()) + " measured runs";
}

std::string describe_structures(const TextFile& file) {
  const FitStructures all = load_fit_structures(file);
  const std::size_t tried = all.structures.size() - 1;
  return "what may be fitted: " + all.structures.front().name +
         (tried > 0 ? ", and " + std::to_string(tried) + " others that were tried" : "");
}

std::string describe_events(const TextFile& file) {
  const World world = load_events(file);
  const auto number = [](std::size_t count, const std::string& what) {
    return std::to_string(count) + " of " + what;
  };
  return "events: " + number(world.ranks.size(), "ranks") + ", " +
         number(world.links.size(), "links") + ", " + number(world.flows.size(), "other traffic");
}

std::string describe_curve(const TextFile& file) {
  const CollectiveCurve curve = load_collective_curve(file);
  std::vector<std::string> collectives;  // the points are sorted by them
  int nodes = 0;
  for (const CurvePoint& point : curve) {
    if (collectives.empty() || collectives.back() != point.collective)
      collectives.push_back(point.collective);
    nodes = std::max(nodes, point.nodes);
  }
  return std::to_string(curve.size()) + " measured times of " + join(collectives) + ", up to " +
         std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

std::string describe_cluster(const TextFile& file) {
  const Cluster cluster = load_cluster(file);
  const auto count = [](int number, const std::string& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  std::string what =
      count(cluster.nodes, "node") + " x " + count(cluster.gpus_per_node, "GPU") + ", " +
      (cluster.nics_per_node > 1 ? std::to_string(cluster.nics_per_node) + " NICs " : "NIC ") +
      to_text(cluster.nic.bandwidth) + " " + to_text(cluster.nic.latency) + ", inside " +
      (guesses_pcie(cluster) ? "PCIe of its GPUs" : to_text(cluster.intra.bandwidth));
  if (cluster.nodes_per_leaf > 0)
    what += ", leaves of " + count(cluster.nodes_per_leaf, "node") + " with " +
            to_text(cluster.leaf_uplink_bandwidth);
  if (cluster.leaves_per_pod > 0)
    what += ", pods of " + std::to_string(cluster.leaves_per_pod) + " with " +
            to_text(cluster.pod_uplink_bandwidth);
  if (!cluster.nodes_alike()) what += ", unequal nodes (the figures are the others')";
  return what;
}

std::string describe_stack(const TextFile& file) {
  const Stack stack = load_stack(file);
  std::vector<std::string> terms;
  for (const StackTerm& term : stack.terms)
    if (!term.of_family) terms.push_back(term.name() + " " + term.quantity->text(term.value, 2));
  return join(terms);
}

std::string describe(const Compressor& compressor) {
  std::string what(compressor.summary);
  what += "; sends " + sent_text(compressor);
  const Parameter& parameter = compressor.parameter;
  if (!parameter.name.empty())
    what += "; parameter: " + parameter_text(compressor, parameter.usual) + " (" +
            std::string(parameter.meaning) + ")";
  if (compressor.two_modes) what += "; modes paper and code";
  return what + " [" + std::string(compressor.source) + "]";
}

std::vector<Entry> all_entries(DataFiles& files) {
  std::vector<Entry> entries;
  add_files(entries, files, kModels, describe_model);
  add_files(entries, files, kIterationTraces, describe_trace);
  add_files(entries, files, kCostTables, describe_costs);
  add_files(entries, files, kMeasuredRuns, describe_measured);
  add_files(entries, files, kCollectiveCurves, describe_curve);
  add_files(entries, files, kFitStructures, describe_structures);
  add_files(entries, files, kEvents, describe_events);
  add_files(entries, files, kClusters, describe_cluster);
  add_files(entries, files, kStacks, describe_stack);
  for (const Compressor* compressor : all_compressors())
    entries.push_back({"compressor", std::string(compressor->name), describe(*compressor)});
  add_files(entries, files, kCompressorFiles,
            [](const TextFile& file) { return describe(*load_compressor(file)); });
  for (const Collective* collective : all_collectives())
    entries.push_back(
        {"collective", std::string(collective->name), std::string(collective->summary)});
  entries.push_back({"collective", "nccl",
                     "NCCL's choice by its own tables, and RCCL's on AMD's GPUs "
                     "[NVIDIA/nccl src/graph/tuning.cc]"});
  entries.push_back({"collective", "rccl",
                     "RCCL's choice by its own tables, on AMD's GPUs alone "
                     "[ROCm/rccl@9e22c79 src/graph/tuning.cc; @ee075f8 src/rccl_wrap.cc]"});
  for (const LibraryRule& rule : library_rules())
    entries.push_back({"collective", std::string(rule.name),
                       std::string(rule.summary) + " [" + std::string(rule.source) + "]"});
  for (const Engine& engine : all_engines())
    entries.push_back({"engine", std::string(engine.name),
                       engine.built() ? std::string(engine.summary)
                                      : "not in this build: needs " + std::string(engine.needs)});
  for (const GpuDevice& device : gpu_devices())
    entries.push_back({"gpu", device.name,
                       std::to_string(device.multiprocessors) + " multiprocessors, " +
                           fixed(device.memory_bytes / (1024.0 * 1024 * 1024), 1) + " GiB"});
  if (gpu_devices().empty())
    entries.push_back(
        {"gpu", "-",
         built_with_cuda()
             ? "none on this machine"
             : "not in this build: configure with -DWITH_CUDA=ON, which needs a CUDA compiler"});
  return entries;
}

/// Longest line of the last column: the table then fits most windows.
constexpr std::size_t kMostOfLine = 100;

/// The text in lines that end at spaces.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const std::string& word : split_words(text, ' ')) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > kMostOfLine)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

}  // namespace

int list(int argc, const char* const* argv) {
  Flags flags("list", "Lists models, traces, clusters, compressors, collectives, engines and GPUs.",
              {"list", "list --format json"});
  if (!flags.parse(argc, argv)) return 0;
  DataFiles files = DataFiles::standard();
  TextTable table{{"kind", "name", "what"}, {}};
  std::vector<Json> rows;
  std::string kind;
  for (const Entry& entry : all_entries(files)) {
    if (!kind.empty() && entry.kind != kind) table.rows.push_back({});
    kind = entry.kind;
    std::vector<std::string> first{entry.kind, entry.name};
    for (const std::string& line : lines_of(entry.what)) {
      table.rows.push_back({first[0], first[1], line});
      first.assign(2, "");
    }
    rows.push_back({{"kind", entry.kind}, {"name", entry.name}, {"what", entry.what}});
  }
  deliver(flags, files.inputs(), "", {to_text(table), rows, nullptr});
  return 0;
}

}  // namespace gradcast::commands
