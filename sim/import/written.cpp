#include "sim/import/written.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>
#include <utility>

#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/cluster_properties.hpp"
#include "sim/inputs/collective_curve.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {
namespace {

constexpr int kGpusOfNode = 8;
/// Source of the links' bandwidth.
std::string bandwidth_source(const Imported& imported) {
  return std::string(sharded(imported) ? "the reduce-scatters" : "the all-reduces") +
         " of this run as a ring: bytes over the least time";
}

std::vector<std::string> with(std::vector<std::string> lines,
                              const std::vector<std::string>& more) {
  for (const std::string& line : more) lines.push_back(one_line(line));
  return lines;
}

/// A value that the trace does not give is filled in, and its source says so.
std::string cluster_csv(const Imported& imported, const ImportedShape& shape, const Link& link,
                        const std::vector<std::string>& provenance) {
  const std::string shape_source = shape.assumed ? "assumed: the trace says " +
                                                       std::to_string(imported.world_size) +
                                                       " ranks, not how they lie on machines"
                                                 : "--gpus-per-node";
  const bool one_node = shape.nodes == 1;
  const bool bound = imported.transfers_with_waiting;
  const std::string rate = to_text(BytesPerSecond{rounded_to(4, link.bandwidth.value)});
  const std::string latency = to_text(Seconds{rounded_to(3, link.latency.count())});
  const std::string rate_source =
      bandwidth_source(imported) + (bound ? "; one rank's include waiting, so at least this" : "");
  const std::string latency_source =
      bound ? "not known: one rank's times include waiting" : bandwidth_source(imported);
  std::string text = csv_comments(provenance) + csv_line({"property", "value", "source"});
  const auto row = [&](const std::string& property, const std::string& value,
                       const std::string& source) {
    text += csv_line({property, value, source});
  };
  row("nodes", std::to_string(shape.nodes), shape_source);
  row("gpus_per_node", std::to_string(shape.gpus_per_node), shape_source);
  row("nic_bandwidth", rate, one_node ? "not crossed: any value gives the same" : rate_source);
  row("nic_latency", latency, one_node ? "not crossed" : latency_source);
  row("intra_bandwidth", rate, one_node ? rate_source : "not known: as between nodes");
  row("intra_latency", latency, one_node ? latency_source : "not known: as between nodes");
  return text;
}

/// The deviation of a property's value as cluster files write it; "" for none.
std::string deviation_text(const Cluster& cluster, std::string_view property) {
  for (const PropertyDeviation& its : cluster.deviations)
    if (its.property == property)
      return its.of_zero.empty() ? percent_to_text(its.share) : its.of_zero;
  return "";
}

/// The cluster that was measured without a training; `beside` is its file of measured times. A
/// column of deviations is left out where no value has one.
std::string cluster_csv(const ImportedCluster& measured, const std::string& beside,
                        const std::vector<std::string>& provenance) {
  std::string text = csv_comments(provenance);
  const auto row = [&](std::string_view name, const std::string& value, const std::string& source,
                       const std::string& deviation) {
    std::vector<std::string> fields{std::string(name), value, source};
    if (!measured.cluster.deviations.empty()) fields.push_back(deviation);
    text += csv_line(fields);
  };
  row("property", "value", "source", "deviation");
  for (const PropertyRow& property : property_rows()) {
    if (const auto source = measured.sources.find(property.name); source != measured.sources.end())
      row(property.name, property.get(measured.cluster), one_line(source->second),
          deviation_text(measured.cluster, property.name));
    if (property.name == "measured_collectives" && !beside.empty())
      row(property.name, beside,
          "times as the imported files have them; none: forecasts by the model", "");
  }
  return text;
}

/// Columns that are left out where no row has a value.
std::string measured_rows_csv(const std::vector<MeasuredRun>& runs,
                              const std::vector<std::string>& comments) {
  const auto seconds = [](Seconds time) { return number_to_text(rounded_to(6, time.count())); };
  const auto yes_no = [](bool yes) { return std::string(yes ? "yes" : "no"); };
  const auto type = [](std::optional<NumberType> its) {
    return std::string(its ? to_text(*its) : "");
  };
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  for (const MeasuredRun& run : runs) {
    const bool sharded = run.sharding.kind != Sharding::None;
    const std::vector<std::pair<std::string, std::string>> cells = {
        {"source", run.source},
        {"model", run.model},
        {"trace", run.trace},
        {"batch", std::to_string(run.batch)},
        {"compute_seconds", seconds(run.compute)},
        {"cluster", run.cluster},
        {"nodes", std::to_string(run.nodes)},
        {"gpus_per_node", std::to_string(run.gpus_per_node)},
        {"compressor", run.compressor},
        {"density", number_to_text(run.density)},
        {"fusion", to_text(run.fusion)},
        {"overlap", yes_no(run.overlap)},
        {"iteration_seconds", seconds(run.iteration)},
        {"framework_in_compute", yes_no(run.framework_in_compute)},
        {"broadcast_buffers", run.broadcast_buffers ? yes_no(*run.broadcast_buffers) : ""},
        {"collective", run.collective},
        {"nccl", run.nccl},
        {"accumulation", run.accumulation > 1 ? std::to_string(run.accumulation) : ""},
        {"stack", run.stack},
        {"sharding", sharded ? to_text(run.sharding) : ""},
        {"reshard_after_forward", sharded ? yes_no(run.sharding.reshard_after_forward) : ""},
        {"parameter_type", type(run.precision.parameter)},
        {"gradient_type", type(run.precision.gradient)},
        {"sum_type", type(run.precision.sum)},
        {"assumed", run.assumed}};
    rows.emplace_back();
    columns.clear();
    for (const auto& [column, value] : cells) {
      columns.push_back(column);
      rows.back().push_back(value);
    }
  }
  for (std::size_t column = columns.size(); column-- > 0;) {
    const auto empty = [&](const auto& row) { return row[column].empty(); };
    if (!std::all_of(rows.begin(), rows.end(), empty)) continue;
    const auto at = static_cast<std::ptrdiff_t>(column);
    columns.erase(columns.begin() + at);
    for (auto& row : rows) row.erase(row.begin() + at);
  }
  std::string text = csv_comments(comments) + csv_line(columns);
  for (const auto& row : rows) text += csv_line(row);
  return text;
}

std::string measured_csv(const Imported& imported, const std::string& name,
                         const ImportedShape& shape, const ImportedPaths& paths,
                         const std::vector<std::string>& provenance) {
  const bool shards = sharded(imported);
  // A file's own folder is where the paths in it begin.
  const auto beside = [](const std::filesystem::path& path) {
    return (std::filesystem::path("..") / path.parent_path().filename() / path.filename()).string();
  };
  MeasuredRun run;
  run.source = name;
  run.model = beside(paths.model);
  run.trace = beside(paths.trace);
  run.batch = imported.trace->batch;
  run.compute = imported.trace->iteration_alone(1);
  run.cluster = beside(paths.cluster);
  run.nodes = shape.nodes;
  run.gpus_per_node = shape.gpus_per_node;
  run.compressor = "dense";
  const bool merged = !shards && imported.buckets.size() < 2 && !imported.finds_unused;
  run.fusion = merged ? parse_fusion("merged") : fusion_of(imported);
  run.overlap = true;
  run.iteration = imported.times->window;
  run.framework_in_compute = has_framework(imported);
  if (!imported.model->buffers().empty()) run.broadcast_buffers = true;
  if (shards) {
    run.sharding = imported.sharding;
    run.sharding.hybrid = imported.sharding.group > 0;
    run.precision.parameter = imported.precision.parameter;
    run.precision.sum = imported.precision.sum;
  }
  return measured_rows_csv(
      {run}, with(provenance, {"iteration_seconds: the window on the GPU, under the profiler.",
                               "compute_seconds: forward, backward and update of one GPU, its work "
                               "alone: an input, not a forecast."}));
}

/// A path as it reads from a file in this folder; a name stays.
std::string seen_from(const std::filesystem::path& folder, const std::string& name_or_path) {
  if (!is_path(name_or_path)) return name_or_path;
  return std::filesystem::proximate(name_or_path, folder).string();
}

std::string logged_runs_csv(const std::vector<ImportedRun>& runs,
                            const std::filesystem::path& folder,
                            const std::vector<std::string>& provenance) {
  std::vector<MeasuredRun> rows;
  std::vector<std::string> spread;
  const auto rounded = [](Seconds time) { return to_text(Seconds{rounded_to(4, time.count())}); };
  for (const ImportedRun& run : runs) {
    rows.push_back(run.row);
    for (std::string* named : {&rows.back().model, &rows.back().trace, &rows.back().cluster})
      *named = seen_from(folder, *named);
    spread.push_back("row " + std::to_string(rows.size()) + ": " + std::to_string(run.iterations) +
                     " printed iterations; 90 % of them took " + rounded(run.least) + " to " +
                     rounded(run.most));
  }
  return measured_rows_csv(
      rows, with(with(provenance, {"iteration_seconds: the median of the printed iterations.",
                                   "compute_seconds: an iteration of one GPU alone: an input, not "
                                   "a forecast."}),
                 spread));
}

/// Seconds a byte of the fastest.
double fastest(const std::vector<ImportedTransfer>& transfers) {
  double least = std::numeric_limits<double>::infinity();
  for (const ImportedTransfer& one : transfers)
    least = std::min(least, one.seconds.count() / static_cast<double>(one.bytes.count));
  return least;
}

}  // namespace

ImportedShape shape_of(const Imported& imported, std::optional<int> gpus_per_node) {
  const int ranks = imported.world_size;
  if (imported.cluster)
    return {imported.cluster->cluster.nodes, imported.cluster->cluster.gpus_per_node, false};
  if (!imported.runs.empty())
    return {imported.runs.front().row.nodes, imported.runs.front().row.gpus_per_node, false};
  if (!gpus_per_node) {
    // A hybrid usually keeps a copy in each node.
    if (const int group = imported.sharding.group; group > 0 && ranks % group == 0)
      return {ranks / group, group, true};
    if (ranks <= kGpusOfNode) return {1, ranks, true};
    if (ranks % kGpusOfNode == 0) return {ranks / kGpusOfNode, kGpusOfNode, true};
    return {ranks, 1, true};
  }
  if (ranks % *gpus_per_node != 0)
    throw ValueError(std::to_string(ranks) + " ranks do not fill nodes of " +
                     std::to_string(*gpus_per_node) + " GPUs");
  return {ranks / *gpus_per_node, *gpus_per_node, false};
}

std::string file_name_of(std::string_view text) {
  std::string name;
  for (const char letter : text.substr(0, 80)) {
    const auto its = static_cast<unsigned char>(letter);
    const bool plain = its < 128 && (std::isalnum(its) != 0 || letter == '_' || letter == '.');
    if (plain)
      name += static_cast<char>(std::tolower(its));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  while (!name.empty() && name.front() == '.') name.erase(0, 1);
  return name;
}

ImportedFiles files_of(const Imported& imported, const std::string& name,
                       const ImportedShape& shape, const std::filesystem::path& folder,
                       const std::vector<std::string>& provenance) {
  ImportedFiles made;
  ImportedPaths& paths = made.paths;
  const std::vector<std::string> lines = with(provenance, imported.provenance);
  if (!imported.runs.empty()) {
    paths.measured = folder / "traces" / ("measured-" + name + ".csv");
    made.files.push_back(
        {paths.measured, logged_runs_csv(imported.runs, paths.measured.parent_path(), lines)});
    return made;
  }
  if (imported.model) {
    paths.model = folder / "models" / (name + ".csv");
    made.files.push_back({paths.model, model_csv(*imported.model, lines)});
  }
  if (imported.model && imported.trace) {
    const std::string device = file_name_of(imported.trace->device);
    paths.trace = folder / "traces" /
                  ("iteration-" + name + "-" + (device.empty() ? "gpu" : device) + ".csv");
    made.files.push_back({paths.trace, iteration_trace_csv(*imported.trace, lines)});
  }
  if (imported.cluster) {
    paths.cluster = folder / "platforms" / (name + ".csv");
    std::string beside;
    if (!imported.cluster->curve.empty()) {
      const std::string file = std::string(kCollectiveCurves.prefix) + name + ".csv";
      paths.collectives = folder / "traces" / file;
      beside = "../traces/" + file;
      made.files.push_back(
          {paths.collectives, collective_curve_csv(imported.cluster->curve, lines)});
    }
    made.files.push_back({paths.cluster, cluster_csv(*imported.cluster, beside, lines)});
    return made;
  }
  // A shard's ring goes once round the ranks that share a copy.
  const bool shards = sharded(imported);
  if (imported.world_size > 1)
    made.link = link_of_ring(imported.transfers, shard_ranks(imported),
                             imported.transfers_with_waiting, shards ? 1 : 2);
  if (made.link) {
    paths.cluster = folder / "platforms" / (name + ".csv");
    made.files.push_back({paths.cluster, cluster_csv(imported, shape, *made.link, lines)});
  }
  // Measured rows have no column for shards of other ranks than all, or a node's.
  const bool rows_say = imported.sharding.group == 0 || shards_in_nodes(imported, shape);
  if (made.link && !paths.trace.empty() && imported.times && rows_say) {
    paths.measured = folder / "traces" / ("measured-" + name + ".csv");
    made.files.push_back({paths.measured, measured_csv(imported, name, shape, paths, lines)});
  }
  return made;
}

void require_readable(const ImportedFiles& files) {
  for (const TextFile& file : files.files) {
    if (file.path == files.paths.model) load_model(file);
    if (file.path == files.paths.trace) load_iteration_trace(file);
    if (file.path == files.paths.cluster) load_cluster(file);
    if (file.path == files.paths.collectives) load_collective_curve(file);
    if (file.path == files.paths.measured) load_measured_runs(file);
  }
}

bool shards_in_nodes(const Imported& imported, const ImportedShape& shape) {
  const int group = imported.sharding.group;
  return group > 0 && group == shape.gpus_per_node && shape.nodes > 1;
}

std::optional<Link> link_of_ring(const std::vector<ImportedTransfer>& transfers, int ranks,
                                 bool with_waiting, int rounds) {
  if (transfers.empty() || ranks < 2) return std::nullopt;
  double bytes = 0, seconds = 0;  // means
  for (const ImportedTransfer& one : transfers) {
    if (one.bytes.count <= 0 || one.seconds <= Seconds{0}) return std::nullopt;
    bytes += static_cast<double>(one.bytes.count);
    seconds += one.seconds.count();
  }
  const auto count = static_cast<double>(transfers.size());
  bytes /= count;
  seconds /= count;
  double rise = 0, width = 0;
  for (const ImportedTransfer& one : transfers) {
    const double aside = static_cast<double>(one.bytes.count) - bytes;
    rise += aside * (one.seconds.count() - seconds);
    width += aside * aside;
  }
  double slope = width > 0 ? rise / width : 0;
  double start = seconds - slope * bytes;
  if (with_waiting || slope <= 0 || start < 0) {
    slope = fastest(transfers);
    start = 0;
  }
  const double steps = static_cast<double>(rounds) * (ranks - 1);
  return Link{BytesPerSecond{steps / ranks / slope}, Seconds{start / steps}};
}

}  // namespace gradcast
