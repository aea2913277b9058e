// `gradcast import`: makes a model, a trace and measured runs of other programs' recordings.
#include <fstream>

#include "sim/answers/answer.hpp"
#include "sim/answers/version.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/import/imported.hpp"
#include "sim/import/readers.hpp"
#include "sim/import/report.hpp"
#include "sim/import/written.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/model.hpp"
#include "sim/options/request_flags.hpp"

namespace gradcast::commands {
namespace {

namespace fs = std::filesystem;

/// The ranks of a job whose files are read together; more are a slip (`import *`).
constexpr std::size_t kMostImported = 4096;

Flags import_flags() {
  std::string kinds;
  for (const ImportReader& reader : import_readers_in_order())
    kinds += "\n  " + std::string(reader.name) + ": " + std::string(reader.what);
  Flags flags(
      "import",
      "Turns what other programs recorded of a training run into a model, an iteration "
      "trace and,\nwhere it had more than one rank, a measured row and a cluster; "
      "training logs into measured\nrows; and measurements of a cluster into a cluster. "
      "Says what it used, left out, inferred\nand could not know, and which command goes "
      "on from there. It reads:" +
          kinds,
      {"import trace.json.gz -o my --name resnet",
       "import rank*.json -o my                (all ranks of a job: waiting is told from "
       "sending)",
       "import trace.json -o my --iteration-seconds 0.18",
       "import trace.json -o my --params parameters.csv",
       "import nccl-tests/*.log -o my --name ours   (several files of one cluster)",
       "import titan.log -o my --model llama-3-8b --cluster dgx-h100 --compute-seconds 2.3s",
       "import model.safetensors -o my --device h100-sxm --tokens 8192"},
      "the folder that models/, traces/ and platforms/ are written to", Writes::Folder);
  flags.add_words("FILE...", "files of one run", kMostImported);
  flags.add("name", "name of the model (default: the file's)");
  flags.add("kind", "how to read the files: " + std::string("a kind from above") +
                        " (default: by what they hold)");
  flags.add(
      "model",
      "of training logs: the network that was trained, a name of `gradcast list` or a .csv file");
  flags.add(
      "trace",
      "of training logs: its iteration trace (default: iteration-<model>-<the cluster's GPU>)");
  flags.add("compute-seconds",
            "of training logs: time of an iteration on one GPU alone (forward, backward and the "
            "optimizer's step), like 120ms or 0.12; where runs differ, a list, 120ms,240ms");
  flags.add("params",
            "CSV file with the columns tensor and elements, one row a trained parameter, in the "
            "order of the forward pass");
  flags.add("batch", "samples per GPU and step, where the file does not say");
  flags.add("iteration-seconds",
            "what a step takes without the profiler, like 0.18: all times are scaled to it");
  flags.add("device",
            "of checkpoints and ONNX: the device of traces/devices.csv, like h100-sxm, for which "
            "times are derived");
  flags.add("tokens", "with --device, for language models: tokens of a step on one GPU");
  flags.add("sequence", "tokens of a sample: attention's own arithmetic depends on it");
  flags.add("mfu", "with --device: the share of its peak that training reaches (default: 40%)");
  flags.add("dtype",
            "with --device: the type of the arithmetic, fp32, tf32, fp16 or bf16 (default: as the "
            "weights are stored)");
  flags.add("experts-per-token", "of a mixture of experts: how many a token uses");
  flags.add("image", "height x width of images, where an ONNX graph leaves them open: 224x224");
  flags.add("tick", "what times of a text workload count: 1ns (SimAI) or 1us (Chakra's converter)");
  flags.add("gpus-per-node",
            "how the ranks lie on machines (default: in one, up to 8; of a table by OSU or "
            "nccl-tests without a list of ranks, one on each)");
  flags.add(
      "cluster",
      "of training logs: the cluster that ran. Of measurements of a cluster: the cluster file "
      "that has its links and facts (default: derived from the measured times)");
  flags.add("nodes",
            "nodes where no file says them: of a collective's table by OSU, of nccl-tests' without "
            "a list of ranks, of a link's measurement, of nvidia-smi's matrix, of a training log");
  return flags;
}

std::vector<fs::path> paths_of(const Flags& flags) {
  if (flags.words().empty())
    throw UsageError("a file is missing: what a profiler wrote; see `gradcast import --help`");
  std::vector<fs::path> paths;
  for (const std::string& word : flags.words()) {
    const fs::path path(word);
    require_regular(path);
    paths.push_back(path);
  }
  return paths;
}

/// "resnet50-ddp" of "runs/resnet50-ddp.pt.trace.json.gz".
std::string name_of(const Flags& flags, const fs::path& first) {
  if (flags.given("name")) {
    const std::string name = flags.text("name");
    if (name.empty() || file_name_of(name) != name)
      throw UsageError("--name: '" + name +
                       "' cannot name files; use small letters, digits, '-', '_' and '.', like '" +
                       (file_name_of(name).empty() ? "resnet-50" : file_name_of(name)) + "'");
    return name;
  }
  std::string stem = first.filename().string();
  for (const char* ending : {".gz", ".json", ".trace", ".pt", ".index", ".safetensors", ".onnx",
                             ".et", ".txt", ".log", ".dat"})
    if (stem.ends_with(ending)) stem.erase(stem.size() - std::string_view(ending).size());
  const std::string name = file_name_of(stem);
  return name.empty() ? "imported" : name;
}

/// "224x224" as height and width.
std::pair<int, int> parse_image(const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos)
    throw ValueError("'" + text + "' is no height x width, like 224x224");
  constexpr int kMostPixels = 100'000;
  return {parse_count_to(kMostPixels, text.substr(0, cross)),
          parse_count_to(kMostPixels, text.substr(cross + 1))};
}

/// Settings that no file holds for a run that never took place. `data` gets the list of devices.
DeriveChoice derive_choice_of(const Flags& flags, DataFiles& data) {
  DeriveChoice choice;
  const auto count = [&](const char* flag) -> std::optional<int> {
    if (!flags.given(flag)) return std::nullopt;
    return flags.value(flag, parse_count);
  };
  choice.tokens = count("tokens");
  choice.batch = count("batch");
  choice.weights.sequence = count("sequence");
  choice.weights.experts_per_token = count("experts-per-token");
  choice.weights.whole_sequences = choice.batch && choice.weights.sequence && !choice.tokens;
  if (flags.given("mfu")) choice.mfu = flags.value("mfu", parse_percent);
  if (flags.given("dtype")) choice.type = flags.value("dtype", parse_number_type);
  if (flags.given("image")) {
    const auto [height, width] = flags.value("image", parse_image);
    choice.weights.height = height;
    choice.weights.width = width;
  }
  if (flags.given("device")) {
    const std::vector<Device> devices = load_devices(data.read(kDevices, "devices"));
    choice.device =
        flags.value("device", [&](const std::string& name) { return device_named(devices, name); });
  }
  return choice;
}

bool is_training_log(const ImportReader& reader) {
  return reader.name == "torchtitan" || reader.name == "megatron";
}

/// A flag that these files have no use for would be taken for one that did something.
void refuse_useless(const Flags& flags, const ImportReader& reader) {
  const bool weights = reader.name == "safetensors" || reader.name == "onnx";
  const auto refuse = [&](const char* flag, const char* kinds) {
    if (flags.typed(flag))
      throw UsageError("--" + std::string(flag) + " is for " + kinds + ", and these files are " +
                       std::string(reader.name));
  };
  const bool logs = is_training_log(reader);
  if (!weights)
    for (const char* flag : {"device", "tokens", "mfu", "dtype", "experts-per-token"})
      refuse(flag, "checkpoints and ONNX");
  if (!weights && !logs) refuse("sequence", "checkpoints, ONNX and training logs");
  if (!logs)
    for (const char* flag : {"model", "trace", "compute-seconds"})
      refuse(flag, "training logs (torchtitan, megatron)");
  if (reader.name != "onnx") refuse("image", "ONNX");
  if (reader.name != "network" && !logs)
    for (const char* flag : {"nodes", "cluster"})
      refuse(flag, "measurements of a cluster (network) and training logs");
  if (reader.name != "astra_sim") refuse("tick", "text workloads (astra_sim)");
  if (weights && !flags.given("device"))
    for (const char* flag : {"tokens", "mfu", "dtype"})
      if (flags.typed(flag))
        throw UsageError("--" + std::string(flag) + " needs --device: times are derived for one");
}

std::vector<Seconds> parse_computes(const std::string& text) {
  std::vector<Seconds> times;
  for (const std::string& word : split_words(text, ','))
    times.push_back(parse_compute_seconds(word));
  return times;
}

/// The user says what no training log does. The trace is the one that `simulate` would take.
SaidRun said_run(const Flags& flags, DataFiles& data) {
  SaidRun said;
  if (flags.given("compute-seconds")) said.compute = flags.value("compute-seconds", parse_computes);
  if (flags.given("cluster")) said.cluster = flags.text("cluster");
  if (flags.given("trace"))
    said.trace = flags.value("trace", [&](const std::string& trace) {
      static_cast<void>(load_iteration_trace(data.read(kIterationTraces, trace)));
      return trace;
    });
  if (!flags.given("model")) return said;
  said.model = flags.text("model");
  said.elements = flags.value("model", [&](const std::string& model) {
    return load_model(data.read(kModels, model)).elements();
  });
  if (!said.trace.empty() || said.cluster.empty()) return said;
  Request request;
  request.model = said.model;
  request.cluster = said.cluster;
  request.today = true;
  request.compute = Seconds{1};  // times are scaled to compute_seconds, whatever GPU they are of
  said.trace = flags.value("model", [&](const std::string&) {
    request = with_defaults(request, data);
    static_cast<void>(read_trace(request, data));
    return request.trace;
  });
  return said;
}

ImportOptions options_of(const Flags& flags, const std::string& name, const ImportReader& reader,
                         DataFiles& data) {
  ImportOptions options;
  options.name = name;
  options.derive = derive_choice_of(flags, data);
  if (flags.given("tick")) options.tick = flags.value("tick", parse_time);
  if (flags.given("params")) options.params = read_text_file(flags.text("params"));
  if (flags.given("cluster"))
    options.machine = flags.value("cluster", [&](const std::string& cluster) {
      return load_cluster(data.read(kClusters, cluster));
    });
  if (flags.given("nodes")) options.layout.nodes = flags.value("nodes", parse_count);
  if (flags.given("gpus-per-node"))
    options.layout.gpus_per_node = flags.value("gpus-per-node", parse_count);
  if (flags.given("batch")) options.batch = flags.value("batch", parse_count);
  if (is_training_log(reader)) options.said = said_run(flags, data);
  return options;
}

/// Names the cluster's GPU if it is one of the devices: then its memory and speed are known.
void name_the_gpu(Imported& imported, DataFiles& data) {
  if (!imported.cluster || imported.device.empty() || !data.has(kDevices, "devices")) return;
  const std::vector<Device> devices = load_devices(data.beside().read(kDevices, "devices"));
  const Device* known = device_meant(devices, imported.device);
  if (known == nullptr) return;
  imported.cluster->cluster.gpu = known->name;
  imported.cluster->sources["gpu"] = "inferred: " + imported.device;
}

void rescale_as_asked(const Flags& flags, Imported& imported) {
  if (!flags.given("iteration-seconds")) return;
  flags.value("iteration-seconds", [&](const std::string& text) {
    const double seconds = parse_number(text);
    if (!(seconds >= kShortestMeasuredSeconds && seconds <= kLongestSeconds))
      throw ValueError("'" + text + "' is no time of a step in seconds, like 0.18");
    rescale(imported, Seconds{seconds});
    return seconds;
  });
}

std::vector<std::string> provenance_of(const std::vector<InputFile>& inputs,
                                       const ImportReader& reader) {
  std::vector<std::string> lines = {"Imported by gradcast " + program_version() + " as " +
                                    std::string(reader.name) + " from:"};
  for (const InputFile& input : inputs)
    lines.push_back("  " + one_line(fs::path(input.typed).filename().string()) +
                    (input.sha256.empty() ? "" : ", SHA-256 " + input.sha256));
  return lines;
}

std::vector<std::string> notes_as_provenance(const ImportNotes& notes) {
  std::vector<std::string> lines;
  const auto add = [&](const char* what, const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) lines.push_back(what + sentence);
  };
  add("used: ", notes.used);
  add("left out: ", notes.dropped);
  add("inferred: ", notes.inferred);
  add("not known: ", notes.unknown);
  return lines;
}

}  // namespace

int import(int argc, const char* const* argv) {
  Flags flags = import_flags();
  if (!flags.parse(argc, argv)) return 0;
  const std::vector<fs::path> paths = paths_of(flags);
  if (!flags.given("output"))
    throw UsageError("-o is missing: the folder that models/ and traces/ are written to");
  const std::string name = name_of(flags, paths.front());
  const ImportReader& reader =
      flags.given("kind") ? flags.value("kind", import_reader_named) : import_reader_for(paths);
  refuse_useless(flags, reader);
  DataFiles data = DataFiles::standard();
  Imported imported = reader.read(paths, options_of(flags, name, reader, data));
  note_doubts(imported);
  for (const std::string& why : imported.mixed) flags.note(why);
  std::vector<InputFile> inputs;
  for (const fs::path& path : paths)
    inputs.push_back({path.string(), imported.weights_unread ? "" : sha256_of_file(path), path});

  std::optional<int> gpus_per_node;
  if (flags.given("gpus-per-node")) gpus_per_node = flags.value("gpus-per-node", parse_count);
  const ImportedShape shape = flags.value(
      "gpus-per-node", [&](const std::string&) { return shape_of(imported, gpus_per_node); });
  if (shape.assumed && imported.world_size > 1)
    imported.notes.unknown.push_back(
        "how the " + std::to_string(imported.world_size) + " ranks lie on machines: taken as " +
        std::to_string(shape.nodes) + " x " + std::to_string(shape.gpus_per_node) +
        "; --gpus-per-node says");
  name_the_gpu(imported, data);
  rescale_as_asked(flags, imported);
  std::vector<std::string> provenance = provenance_of(inputs, reader);
  for (std::string& line : notes_as_provenance(imported.notes))
    provenance.push_back(std::move(line));
  const ImportedFiles files = files_of(imported, name, shape, flags.written("output"), provenance);
  if (files.files.empty() && !imported.times)
    throw DataError(
        paths.front().string(), 0,
        "has nothing that could be written; not known: " + join(imported.notes.unknown, "; "));
  try {
    require_readable(files);
  } catch (const DataError& error) {
    throw DataError(
        paths.front().string(), 0,
        std::string("says what no forecast can use; as it would be written, ") + error.what());
  }
  for (const TextFile& file : files.files) make_folder(file.path.parent_path());
  write_text_files(files.files);
  const Format format = flags.format();
  deliver(flags, inputs, "",
          {to_text(imported, files, shape),
           {format == Format::Csv ? to_flat_json(imported) : to_json(imported)}});
  return 0;
}

}  // namespace gradcast::commands
