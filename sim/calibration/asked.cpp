#include "sim/calibration/asked.hpp"

#include <algorithm>
#include <cstdint>

#include "sim/base/lists.hpp"
#include "sim/base/text.hpp"
#include "sim/calibration/meter.hpp"

namespace gradcast {
namespace {

constexpr int kMostWorkers = 16384;

DeviceAsked parse_device(const std::string& text) {
  if (text.empty()) return {};
  if (text == "cpu") return {false, 0};
  if (text == "gpu") return {};
  if (text == "gpu:") throw ValueError("'gpu:' lacks the number; write gpu:1");
  if (text.starts_with("gpu:")) {
    const std::int64_t number = parse_integer(text.substr(4));
    if (number >= 0 && number < 1024) return {true, static_cast<int>(number)};
  }
  throw ValueError("unknown device '" + text + "'" + did_you_mean(text, {"cpu", "gpu"}) +
                   " (known: cpu, gpu, gpu:1)");
}

std::vector<const Compressor*> parse_compressors(const std::string& text) {
  std::vector<const Compressor*> compressors;
  if (text == "all") {
    for (const Compressor* compressor : all_compressors())
      if (compressor->family != Family::Dense) compressors.push_back(compressor);
    return compressors;
  }
  for (const std::string& name : parse_words(text)) {
    const Compressor& compressor = known_compressor(name, false);
    if (compressor.family == Family::Dense)
      throw ValueError("'" + name + "' encodes nothing, so there is nothing to time");
    if (compressor.payload != nullptr)
      throw ValueError("'" + name + "' is described by a file, and there are no kernels to time");
    compressors.push_back(&compressor);
  }
  return compressors;
}

std::vector<double> read_parameters(const Flags& flags,
                                    const std::vector<const Compressor*>& compressors) {
  if (!flags.given("parameters")) return {};
  if (compressors.size() > 1)
    throw UsageError(
        "--parameters are one compressor's numbers, and several are timed: name one with "
        "--compressors, or leave them out");
  if (compressors.front()->parameter.selects)
    throw UsageError("--parameters: the costs of " + std::string(compressors.front()->name) +
                     " go by how many elements it sends: give those, as --densities");
  return flags.value("parameters", [&](const std::string& text) {
    std::vector<double> parameters;
    for (const std::string& word : expand_list(text))
      parameters.push_back(parameter_of(*compressors.front(), parse_parameter(word)));
    return parameters;
  });
}

std::vector<Input> parse_inputs(const std::string& text) {
  std::vector<Input> inputs;
  for (const std::string& word : parse_words(text))
    if (!is_recorded(word)) inputs.push_back(parse_input(word));
  return inputs;
}

std::vector<ValueType> parse_input_types(const std::string& text) {
  std::vector<ValueType> types;
  for (const std::string& word : parse_words(text)) types.push_back(parse_value_type(word));
  return types;
}

void read_all_recorded(const Flags& flags, CalibrationAsked& asked) {
  for (const std::string& word : flags.value("distributions", parse_words))
    if (is_recorded(word)) asked.recorded.push_back(read_recorded(word));
  require_names_differ(asked.recorded);
  for (const RecordedFile& file : asked.recorded) asked.points.recorded.push_back(file.input);
}

std::vector<std::string> parse_baselines(const std::string& text) {
  if (text == "none") return {};
  const std::vector<std::string> known{"cub", kTorch};
  std::vector<std::string> baselines = parse_words(text);
  for (const std::string& baseline : baselines)
    if (std::find(known.begin(), known.end(), baseline) == known.end())
      throw ValueError("unknown baseline '" + baseline + "'" + did_you_mean(baseline, known) +
                       " (known: cub, torch, none)");
  return baselines;
}

std::vector<Model> parse_models(const std::string& text, DataFiles& files) {
  if (text == "none") return {};
  std::vector<Model> models;
  const bool all = text.empty() || text == "all";
  for (const std::string& name : all ? files.names(kModels) : parse_words(text))
    models.push_back(load_model(files.read(kModels, name)));
  return models;
}

Model parse_one_model(const std::string& text, DataFiles& files) {
  if (text.find(',') != std::string::npos)
    throw ValueError("'" + text + "' is a list, but only one model is shown at a time");
  return load_model(files.read(kModels, text));
}

Seconds parse_point_seconds(const std::string& text) {
  if (text.ends_with('s'))
    throw ValueError("'" + text + "' has a unit, and this is a number of seconds; write '" +
                     number_to_text(parse_time(text).count()) + "'");
  const double seconds = parse_number(text);
  if (seconds > 0 && seconds <= 3600) return Seconds{seconds};
  throw ValueError("'" + text + "' is not a number of seconds above 0 and up to 3600, like '1'");
}

constexpr Seconds kCpuBudget{5 * 60};
constexpr Seconds kGpuBudget{2 * 60};

/// "5min", "90s" or "2h"; none for "none".
std::optional<Seconds> parse_budget(const std::string& text) {
  if (text == "none") return std::nullopt;
  Seconds budget{0};
  if (text.ends_with("min"))
    budget = Seconds{60 * parse_number(text.substr(0, text.size() - 3))};
  else if (text.ends_with('h'))
    budget = Seconds{3600 * parse_number(text.substr(0, text.size() - 1))};
  else
    budget = parse_time(text);
  if (!(budget > Seconds{0})) throw ValueError("'" + text + "' is no time above 0, like 5min");
  return budget;
}

void require_alone(const Flags& flags, const std::string& flag,
                   const std::vector<std::string>& others, const std::string& why) {
  if (!flags.given(flag)) return;
  for (const std::string& other : others)
    if (flags.given(other))
      throw UsageError(join({"--" + other, "does not go with", "--" + flag + ":", why}, " "));
}

}  // namespace

Flags calibration_flags() {
  Flags flags("calibrate",
              "Times the compressors on this machine and writes a cost table for `simulate "
              "--costs`. It times\nevery tensor of the models, the buckets that fusion makes of "
              "them (all in one, 25 MiB and\n64 MiB), and all tensors of a model in one call. "
              "Times are medians of cold-cache samples.\nOn a GPU the gradient drifts from call to "
              "call, as "
              "in training.\nThe table grows point by point: ctrl-C "
              "keeps what is done, and the same command continues.\nIf all would take longer than "
              "the budget, sizes come first between which times differ most.",
              {"calibrate --device cpu --models resnet-50 --compressors gaussian -o my-costs.csv",
               "simulate --model resnet-50 --compressor gaussian --costs my-costs.csv",
               "calibrate --compressors qsgd --parameters 7,127 --workers 1,16",
               "calibrate --densities 0.0001..0.01 --sweep",
               "calibrate --roofline --models resnet-50,vgg-16", "calibrate --per-layer resnet-50"},
              "the cost table (default: cost-<device>.csv, in ./traces/ where that is)");
  flags.add("device", "gpu, gpu:1 or cpu (default: gpu)");
  flags.add("models", "names of `gradcast list` or .csv files, all or none (default: all)");
  flags.add("compressors",
            "names of `gradcast list`, or all (default: all; --per-layer: "
            "topk,gaussian)");
  flags.add("densities", "a list, or 0.0001..0.01, in steps of 1-2-5; only sparsifiers have one",
            "0.001");
  flags.add("parameters",
            "levels, block, clip or rank of the one compressor that is named: a list (default: "
            "its usual one; of powersgd 1,2,4, in a per-layer table 2)");
  flags.add("distributions",
            "distributions of the elements: normal, laplace, layermix, ..., and .npy files of u "
            "(`train --record`), each timed whole unless --models or --sweep say sizes: then the "
            "first elements",
            "normal");
  flags.add("input-types",
            "types of gradients that kernels read, and decodes write: a list of fp32, bf16 and "
            "fp16; on a GPU",
            "fp32");
  flags.add("workers", "numbers of workers whose sets decode adds up: a list, or 4..64, doubling",
            "1,16,256");
  flags.add_switch("sweep",
                   "also time tensors of 1024 to 400 M elements, as far as they fit into memory");
  flags.add("baselines",
            "other implementations to time: cub, torch (run by $GRADCAST_PYTHON or python3) or "
            "none (default: cub,torch on a GPU)");
  flags.add("per-layer",
            "a model: show each tensor's encode beside its layer's backward, and write no costs");
  flags.add("trace", "iteration trace for --per-layer (default: iteration-<model>-v100)");
  flags.add_switch(
      "roofline",
      "show bytes, shares of the memory's speed, warm and cold calls and recall of whole "
      "models (and --sweep), and write no costs");
  flags.add("budget",
            "time that measuring may take, as 90s, 5min, 2h or none; the same command with more "
            "goes on (default: 5min, on a GPU 2min)");
  flags.add("seconds", "seconds that the samples of one point may take", "1");
  flags.add("seed", "seed of gradients, residuals and what compressors draw", "1");
  return flags;
}

CalibrationAsked read_calibration_asked(const Flags& flags, DataFiles& files) {
  require_alone(flags, "per-layer", {"roofline", "models", "sweep"}, "it measures that one model");
  for (const char* view : {"per-layer", "roofline"}) {
    require_alone(flags, view, {"output", "budget"}, "it prints a table and writes no costs");
    require_alone(flags, view, {"workers"},
                  "it times encode only, which does not depend on other workers");
    require_alone(flags, view, {"input-types"}, "it is of fp32 gradients");
  }
  if (flags.given("trace") && !flags.given("per-layer"))
    throw UsageError("--trace belongs to --per-layer, which is not given");
  if (flags.written("output") == "-")
    throw UsageError("--output: '-' is not a file, and the cost table grows in one: name a file");
  CalibrationAsked asked;
  asked.device = flags.value("device", parse_device);
  std::string compressors = flags.text("compressors");
  if (compressors.empty()) compressors = flags.given("per-layer") ? "topk,gaussian" : "all";
  asked.points.compressors = flags.value(
      "compressors", [&](const std::string&) { return parse_compressors(compressors); });
  asked.points.densities = flags.value("densities", parse_densities);
  asked.points.parameters = read_parameters(flags, asked.points.compressors);
  asked.points.inputs = flags.value("distributions", parse_inputs);
  asked.points.input_types = flags.value("input-types", parse_input_types);
  read_all_recorded(flags, asked);
  asked.points.workers = flags.value(
      "workers", [](const std::string& text) { return parse_counts_to(kMostWorkers, text); });
  if (flags.given("baselines")) asked.baselines = flags.value("baselines", parse_baselines);
  asked.point_seconds = flags.value("seconds", parse_point_seconds);
  asked.budget = flags.given("budget") ? flags.value("budget", parse_budget)
                 : asked.device.gpu    ? kGpuBudget
                                       : kCpuBudget;
  asked.points.seed = flags.value("seed", parse_seed);
  asked.sweep = flags.given("sweep");
  if (flags.given("per-layer"))
    asked.models = {flags.value(
        "per-layer", [&](const std::string& text) { return parse_one_model(text, files); })};
  else if (asked.recorded.empty() || flags.given("models"))
    asked.models =
        flags.value("models", [&](const std::string& text) { return parse_models(text, files); });
  asked.points.own_sizes = !asked.recorded.empty() && asked.models.empty() && !asked.sweep;
  if (asked.models.empty() && !asked.sweep && !asked.points.own_sizes)
    throw UsageError("--models none without --sweep leaves nothing to measure");
  return asked;
}

}  // namespace gradcast
