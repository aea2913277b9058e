#include "sim/import/report.hpp"

#include "sim/base/shell_word.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// The shares from which on waiting for the host is worth a sentence, and is what bounds the run.
constexpr double kHostMatters = 0.1;
constexpr double kHostBound = 0.4;

/// Null where the file has no times.
Json seconds_of(const Imported& imported, Seconds ImportedTimes::*member) {
  if (!imported.times) return nullptr;
  return rounded_to(9, ((*imported.times).*member).count());
}

Json head_of(const Imported& imported) {
  Json row;
  row["kind"] = imported.kind;
  row["device"] = imported.device;
  row["world_size"] = imported.world_size;
  row["steps_used"] = imported.steps_used;
  row["steps_dropped"] = imported.steps_dropped;
  row["linked"] = imported.linked;
  row["gradients"] =
      imported.model ? static_cast<int>(imported.model->tensors.size()) : imported.gradients;
  row["elements"] = imported.model ? imported.model->elements() : 0;
  row["shapes"] = to_string(imported.shapes);
  const std::pair<const char*, Seconds ImportedTimes::*> times[] = {
      {"window_seconds", &ImportedTimes::window},   {"compute_seconds", &ImportedTimes::compute},
      {"exposed_seconds", &ImportedTimes::exposed}, {"idle_seconds", &ImportedTimes::idle},
      {"busy_seconds", &ImportedTimes::busy},       {"host_seconds", &ImportedTimes::host},
      {"wait_seconds", &ImportedTimes::wait},       {"other_seconds", &ImportedTimes::other},
      {"forward_seconds", &ImportedTimes::forward}, {"backward_seconds", &ImportedTimes::backward},
      {"update_seconds", &ImportedTimes::update}};
  for (const auto& [name, member] : times) row[name] = seconds_of(imported, member);
  if (imported.times && imported.times->recompute > Seconds{0})
    row["recompute_seconds"] = seconds_of(imported, &ImportedTimes::recompute);
  if (sharded(imported)) {
    row["sharding"] = "fsdp";
    row["shard_group"] = shard_ranks(imported);
  }
  if (!imported.times && imported.trace) {  // of layers only: nothing says when they ran
    row["forward_seconds"] = rounded_to(9, imported.trace->forward().count());
    row["backward_seconds"] = rounded_to(9, imported.trace->backward().count());
    row["update_seconds"] = rounded_to(9, imported.trace->update.count());
  }
  return row;
}

std::string milliseconds(Seconds time) { return fixed(time.count() * 1e3, 3); }

std::string lines_of(const char* title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string text = std::string(title) + "\n";
  for (const std::string& sentence : sentences) text += "  - " + one_line(sentence) + "\n";
  return text;
}

std::string times_table(const ImportedTimes& times) {
  TextTable table{{"of a step", "ms", "share", "what"}, {}};
  const auto row = [&](const char* name, Seconds time, const char* what) {
    table.rows.push_back(
        {name, milliseconds(time),
         fixed(times.window > Seconds{0} ? 100 * (time / times.window) : 0, 1) + " %", what});
  };
  row("window", times.window, "first kernel of a step to that of the next");
  table.rows.push_back({});
  row("compute", times.compute, "a compute kernel runs");
  row("exposed", times.exposed, "a collective runs, and no compute kernel does");
  row("idle", times.idle, "neither runs");
  table.rows.push_back({});
  row("busy", times.busy, "the compute stream has a kernel");
  row("host", times.host, "it waits for the host to launch the next");
  row("wait", times.wait, "it waits while a collective runs");
  row("other", times.other, "the rest");
  table.rows.push_back({});
  row("forward", times.forward, "kernels of the forward pass");
  row("backward", times.backward, "kernels of the backward pass");
  if (times.recompute > Seconds{0})
    row("recompute", times.recompute, "of backward: forward computed again");
  row("update", times.update, "kernels of the optimizer");
  return to_text(table);
}

std::string collectives_table(const std::vector<ImportedCollective>& collectives) {
  bool shared = false;
  for (const ImportedCollective& one : collectives) shared = shared || one.transfer.has_value();
  TextTable table{{"collective", "a step", "MB", "ms"}, {}};
  if (shared) table.header.insert(table.header.end(), {"ms moving", "ms of skew"});
  for (const ImportedCollective& one : collectives) {
    table.rows.push_back({one.name, std::to_string(one.count),
                          fixed(static_cast<double>(one.bytes.count) / 1e6, 3),
                          milliseconds(one.seconds)});
    if (shared)
      for (const auto& part : {one.transfer, one.skew})
        table.rows.back().push_back(part ? milliseconds(*part) : "");
  }
  return to_text(table);
}

std::string runs_table(const std::vector<ImportedRun>& runs) {
  TextTable table{
      {"nodes x GPUs", "batch", "iterations", "seconds", "90 % of them", "tokens/s a GPU"}, {}};
  const auto seconds = [](Seconds time) { return fixed(time.count(), 4); };
  for (const ImportedRun& run : runs)
    table.rows.push_back(
        {std::to_string(run.row.nodes) + " x " + std::to_string(run.row.gpus_per_node),
         std::to_string(run.row.batch), std::to_string(run.iterations), seconds(run.row.iteration),
         seconds(run.least) + " to " + seconds(run.most),
         run.tokens > 0 ? fixed(static_cast<double>(run.tokens) / run.row.iteration.count(), 0)
                        : ""});
  return to_text(table);
}

/// The flags of a sharded run, with a blank behind them.
std::string sharding_flags(const Imported& imported, const ImportedShape& shape) {
  const ShardingChoice& its = imported.sharding;
  const bool of_node = shards_in_nodes(imported, shape);
  std::string text = of_node ? "--sharding hsdp " : "--sharding fsdp ";
  if (its.group > 0 && !of_node) text += "--shard-group " + std::to_string(its.group) + " ";
  if (!its.reshard_after_forward) text += "--reshard-after-forward no ";
  if (imported.precision.sum)
    text += "--sum-type " + std::string(to_text(*imported.precision.sum)) + " ";
  return text;
}

std::string figures_of(const Imported& imported) {
  std::string text = imported.kind;
  if (!imported.device.empty()) text += ", " + imported.device;
  if (imported.cluster)
    text += ", a cluster of " + std::to_string(imported.cluster->cluster.nodes) + " x " +
            std::to_string(imported.cluster->cluster.gpus_per_node) + " GPUs; " +
            std::to_string(imported.cluster->curve.size()) + " measured times of collectives";
  else if (imported.runs.size() > 1)
    text += ", " + std::to_string(imported.runs.size()) + " runs";
  else if (imported.world_size > 1)
    text += ", a run of " + std::to_string(imported.world_size) + " ranks";
  if (imported.model)
    text += "; " + std::to_string(imported.model->tensors.size()) + " gradients of " +
            std::to_string(imported.model->elements()) + " elements, " + to_string(imported.shapes);
  return text + "\n";
}

}  // namespace

std::string host_sentence(const ImportedTimes& times) {
  if (times.window <= Seconds{0}) return "";
  const double share = times.host / times.window;
  if (share < kHostMatters) return "";
  return fixed(100 * share, 0) + " % of the step the GPU waits for the host: " +
         (share < kHostBound ? "that part of it no faster GPU or network shortens"
                             : "a faster GPU or network changes little");
}

Json to_json(const Imported& imported) {
  Json row = head_of(imported);
  row["collectives"] = Json::array();
  for (const ImportedCollective& one : imported.collectives) {
    Json collective{{"name", one.name},
                    {"count", one.count},
                    {"bytes", one.bytes.count},
                    {"seconds", rounded_to(9, one.seconds.count())}};
    if (one.transfer) collective["transfer_seconds"] = rounded_to(9, one.transfer->count());
    if (one.skew) collective["skew_seconds"] = rounded_to(9, one.skew->count());
    row["collectives"].push_back(collective);
  }
  row["buckets"] = imported.buckets;
  for (const ImportedRun& run : imported.runs)
    row["runs"].push_back({{"nodes", run.row.nodes},
                           {"gpus_per_node", run.row.gpus_per_node},
                           {"batch", run.row.batch},
                           {"iterations", run.iterations},
                           {"iteration_seconds", rounded_to(9, run.row.iteration.count())},
                           {"low_seconds", rounded_to(9, run.least.count())},
                           {"high_seconds", rounded_to(9, run.most.count())},
                           {"stack", run.row.stack},
                           {"sharding", to_text(run.row.sharding)}});
  row["used"] = imported.notes.used;
  row["dropped"] = imported.notes.dropped;
  row["inferred"] = imported.notes.inferred;
  row["unknown"] = imported.notes.unknown;
  return row;
}

Json to_flat_json(const Imported& imported) {
  Json row = head_of(imported);
  std::vector<std::string> collectives, buckets;
  for (const ImportedCollective& one : imported.collectives)
    collectives.push_back(one.name + ":" + std::to_string(one.count) + ":" +
                          std::to_string(one.bytes.count) + ":" +
                          number_to_text(rounded_to(9, one.seconds.count())));
  for (const std::int64_t elements : imported.buckets) buckets.push_back(std::to_string(elements));
  row["collectives"] = join(collectives, " ");
  row["buckets"] = join(buckets, " ");
  std::vector<std::string> runs;
  for (const ImportedRun& run : imported.runs)
    runs.push_back(std::to_string(run.row.nodes) + "x" + std::to_string(run.row.gpus_per_node) +
                   ":" + number_to_text(rounded_to(9, run.row.iteration.count())));
  if (!runs.empty()) row["runs"] = join(runs, " ");
  return row;
}

std::vector<std::string> next_commands(const Imported& imported, const ImportedFiles& files,
                                       const ImportedShape& shape) {
  const auto quoted = [](const std::filesystem::path& path) { return shell_word(path.string()); };
  if (imported.cluster) {
    const std::string cluster = "--cluster " + quoted(files.paths.cluster);
    std::vector<std::string> commands;
    if (imported.world_size > 1) commands.push_back("gradcast collectives " + cluster);
    commands.push_back("gradcast simulate --model resnet-50 " + cluster + " --nodes " +
                       std::to_string(2 * shape.nodes));
    return commands;
  }
  if (!imported.runs.empty()) {
    const std::string measured = quoted(files.paths.measured);
    return {"gradcast compare --measured " + measured,
            "gradcast learn " + measured + " -o my-cluster"};
  }
  if (files.paths.model.empty() || files.paths.trace.empty()) return {};
  // Parameters, gradients and Adam's two numbers: 16 bytes each. Such a model is sharded.
  constexpr std::int64_t kMostOnOneGpu = 5'000'000'000;
  if (imported.model && imported.model->elements() > kMostOnOneGpu && imported.world_size == 1 &&
      !sharded(imported)) {
    const std::string what = "--model " + quoted(files.paths.model) + " --trace " +
                             quoted(files.paths.trace) + " --cluster dgx-h100 --nodes 16";
    return {"gradcast simulate " + what + " --sharding fsdp", "gradcast decide " + what};
  }
  // A run of one rank says nothing of a network: the example is one that people rent.
  const std::string where = files.paths.cluster.empty()
                                ? "--cluster 10gbe --nodes 8"
                                : "--cluster " + quoted(files.paths.cluster) + " --nodes " +
                                      std::to_string(shape.nodes) + " --gpus-per-node " +
                                      std::to_string(shape.gpus_per_node);
  const std::string how = sharded(imported)
                              ? sharding_flags(imported, shape)
                              : "--fusion " + to_text(fusion_of(imported)) + " --overlap yes ";
  const std::string what = "--model " + quoted(files.paths.model) + " --trace " +
                           quoted(files.paths.trace) + " " + how +
                           (has_framework(imported) ? "--framework-in-compute yes " : "");
  std::vector<std::string> commands = {"gradcast simulate " + what + where};
  // Gradients that are sharded over all ranks leave nothing to compress.
  if (sharded(imported))
    commands.push_back("gradcast decide " + what + where);
  else
    commands.push_back("gradcast breakeven " + what + "--cluster 10gbe --nodes 8" +
                       " --compressor topk --over nic-bandwidth");
  if (!files.paths.measured.empty())
    commands.push_back("gradcast compare --measured " + quoted(files.paths.measured));
  if (imported.world_size < 1) commands.clear();
  return commands;
}

std::string to_text(const Imported& imported, const ImportedFiles& files,
                    const ImportedShape& shape) {
  std::string text = figures_of(imported) + "\n";
  if (imported.times) {
    text += times_table(*imported.times) + "\n";
    if (const std::string host = host_sentence(*imported.times); !host.empty())
      text += host + ".\n\n";
  }
  if (!imported.runs.empty()) text += runs_table(imported.runs) + "\n";
  if (!imported.times && imported.trace)
    text += "An iteration on one GPU, in ms: forward " + milliseconds(imported.trace->forward()) +
            ", backward " + milliseconds(imported.trace->backward()) + ", update " +
            milliseconds(imported.trace->update) + "; batch " +
            std::to_string(imported.trace->batch) + "\n\n";
  if (!imported.collectives.empty()) text += collectives_table(imported.collectives) + "\n";
  if (!imported.buckets.empty()) {
    std::vector<std::string> buckets;
    for (const std::int64_t elements : imported.buckets)
      buckets.push_back(std::to_string(elements));
    text += std::string(sharded(imported) ? "Units, in elements and in order of sending: "
                                          : "Buckets, in elements: ") +
            join(buckets) + "\n\n";
  }
  text += lines_of("Used", imported.notes.used);
  text += lines_of("Left out", imported.notes.dropped);
  text += lines_of("Inferred", imported.notes.inferred);
  text += lines_of("Not known", imported.notes.unknown);
  std::vector<std::string> written;
  for (const TextFile& file : files.files) written.push_back(file.path.string());
  text += lines_of("Written", written);
  const std::vector<std::string> commands = next_commands(imported, files, shape);
  if (!commands.empty()) text += "\nNext:\n";
  for (const std::string& command : commands) text += "  " + command + "\n";
  return text;
}

}  // namespace gradcast
