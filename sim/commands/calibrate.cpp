// `gradcast calibrate`: times the compressors on this machine, into a cost table.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "kernels/gpu.hpp"
#include "sim/answer.hpp"
#include "sim/calibration/cost_file.hpp"
#include "sim/calibration/interruption.hpp"
#include "sim/calibration/lists.hpp"
#include "sim/calibration/meter.hpp"
#include "sim/calibration/per_layer.hpp"
#include "sim/calibration/points.hpp"
#include "sim/calibration/progress.hpp"
#include "sim/calibration/roofline.hpp"
#include "sim/table.hpp"
#include "sim/text.hpp"

namespace gradcast::commands {
namespace {

constexpr int kMostWorkers = 16384;

Flags make_flags() {
  Flags flags(
      "calibrate",
      "Times the compressors on this machine, for `simulate --costs`: every tensor of the models,\n"
      "what fusing makes of them (all in one, 25 MiB and 64 MiB buckets), and each model's "
      "tensors\n"
      "in one call. Medians of cold-cache samples. The table grows point by point: ctrl-C keeps\n"
      "what is done, and the same command goes on from there.",
      {"calibrate --device cpu --models resnet-50 --compressors gaussian -o my-costs.csv",
       "simulate --model resnet-50 --compressor gaussian --costs my-costs.csv",
       "calibrate --densities 0.0001..0.01 --sweep",
       "calibrate --roofline --models resnet-50,vgg-16", "calibrate --per-layer resnet-50"},
      "the cost table (default: cost-<device>.csv, in ./traces/ where that is)");
  flags.add("device", "gpu, gpu:1 or cpu (default: gpu)");
  flags.add("models", "names of `gradcast list` or .csv files, all or none (default: all)");
  flags.add("compressors",
            "names of `gradcast list`, or all (default: all; --per-layer: "
            "topk,gaussian)");
  flags.add("densities", "a list, or 0.0001..0.01, in steps of 1-2-5", "0.001");
  flags.add("distributions", "of the elements: normal, laplace, layermix, ...", "normal");
  flags.add("workers", "whose sets decode adds up: a list, or 4..64, doubling", "1,16,256");
  flags.add_switch("sweep",
                   "also tensors of 1024 to 400 M elements, as far as they fit the memory");
  flags.add("baselines",
            "cub, torch (by $GRADCAST_PYTHON or python3) or none (default: cub,torch on a GPU)");
  flags.add("per-layer", "of this model: each tensor's encode beside its layer's backward");
  flags.add("trace", "of --per-layer (default: iteration-<model>-v100)");
  flags.add_switch("roofline",
                   "of the whole models (and --sweep): bytes, shares of the memory's "
                   "speed, recall");
  flags.add("seconds", "for the samples of one point", "1");
  flags.add("seed", "of gradients, residuals and what compressors draw", "1");
  return flags;
}

/// gpu, gpu:N, cpu; nothing said is gpu.
struct DeviceAsked {
  bool gpu = true;
  int number = 0;
  bool said = false;
};

DeviceAsked parse_device(const std::string& text) {
  if (text.empty()) return {};
  if (text == "cpu") return {false, 0, true};
  if (text == "gpu") return {true, 0, true};
  if (text.starts_with("gpu:")) {
    const std::int64_t number = parse_integer(text.substr(4));
    if (number >= 0 && number < 1024) return {true, static_cast<int>(number), true};
  }
  throw ValueError("unknown device '" + text + "'" + did_you_mean(text, {"cpu", "gpu"}) +
                   " (known: cpu, gpu, gpu:1)");
}

std::vector<const Compressor*> parse_compressors(const std::string& text) {
  std::vector<const Compressor*> compressors;
  std::vector<std::string> known;
  for (const Compressor* compressor : all_compressors()) {
    if (compressor->rule == Rule::Everything) continue;
    known.emplace_back(compressor->name);
    if (text == "all") compressors.push_back(compressor);
  }
  if (text == "all") return compressors;
  for (const std::string& name : parse_words(text)) {
    const Compressor* compressor = find_compressor(name);
    if (compressor == nullptr)
      throw ValueError("unknown compressor '" + name + "'" + did_you_mean(name, known) +
                       " (known: " + join(known) + ")");
    if (compressor->rule == Rule::Everything)
      throw ValueError("'" + name + "' encodes nothing, so there is nothing to time");
    compressors.push_back(compressor);
  }
  return compressors;
}

std::vector<Input> parse_inputs(const std::string& text) {
  std::vector<Input> inputs;
  for (const std::string& word : parse_words(text)) inputs.push_back(parse_input(word));
  return inputs;
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

Seconds parse_point_seconds(const std::string& text) {
  const double seconds = parse_number(text);
  if (seconds > 0 && seconds <= 3600) return Seconds{seconds};
  throw ValueError("'" + text + "' is not a number of seconds above 0 and up to 3600, like '1'");
}

std::uint32_t parse_seed(const std::string& text) {
  const std::int64_t seed = parse_integer(text);
  if (seed >= 0 && seed <= INT32_MAX) return static_cast<std::uint32_t>(seed);
  throw ValueError("'" + text + "' is not a number from 0 to 2147483647, like '1'");
}

/// The command line, read.
struct Asked {
  DeviceAsked device;
  std::vector<Model> models;
  PointsAsked points;  // without sets
  bool sweep = false;
  std::optional<std::vector<std::string>> baselines;
  Seconds point_seconds{1};
};

void require_alone(const Flags& flags, const std::string& flag,
                   const std::vector<std::string>& others, const std::string& why) {
  if (!flags.given(flag)) return;
  for (const std::string& other : others)
    if (flags.given(other))
      throw UsageError(join({"--" + other, "does not go with", "--" + flag + ":", why}, " "));
}

Asked read_asked(const Flags& flags, DataFiles& files) {
  require_alone(flags, "per-layer", {"roofline", "models", "sweep"}, "it measures that one model");
  for (const char* view : {"per-layer", "roofline"})
    require_alone(flags, view, {"output"}, "it prints a table and writes no costs");
  if (flags.given("trace") && !flags.given("per-layer"))
    throw UsageError("--trace is of --per-layer, which is not given");
  if (flags.text("output") == "-")
    throw UsageError("--output: the cost table grows in a file, and '-' is none");
  Asked asked;
  asked.device = flags.value("device", parse_device);
  std::string compressors = flags.text("compressors");
  if (compressors.empty()) compressors = flags.given("per-layer") ? "topk,gaussian" : "all";
  asked.points.compressors = flags.value(
      "compressors", [&](const std::string&) { return parse_compressors(compressors); });
  asked.points.densities = flags.value("densities", parse_densities);
  asked.points.inputs = flags.value("distributions", parse_inputs);
  asked.points.workers = flags.value(
      "workers", [](const std::string& text) { return parse_counts_to(kMostWorkers, text); });
  if (flags.given("baselines")) asked.baselines = flags.value("baselines", parse_baselines);
  asked.point_seconds = flags.value("seconds", parse_point_seconds);
  asked.points.seed = flags.value("seed", parse_seed);
  asked.sweep = flags.given("sweep");
  const char* const model_flag = flags.given("per-layer") ? "per-layer" : "models";
  asked.models =
      flags.value(model_flag, [&](const std::string& text) { return parse_models(text, files); });
  if (asked.models.empty() && !asked.sweep)
    throw UsageError("--models none without --sweep leaves nothing to measure");
  return asked;
}

std::unique_ptr<Bench> open_device(const DeviceAsked& asked) {
  if (!asked.gpu) return make_cpu_bench();
  if (std::unique_ptr<Bench> bench = make_gpu_bench(asked.number)) return bench;
  const std::string why = !built_with_cuda() ? "this build holds no CUDA code"
                          : gpu_devices().empty()
                              ? "CUDA sees no GPU here"
                              : "there is no GPU " + std::to_string(asked.number);
  throw MissingError(why + "; --device cpu measures on the CPU");
}

/// The device, the meter and everything that is asked of them.
struct Session {
  const Flags& flags;
  DataFiles& files;
  const Asked& asked;
  Bench& bench;
  BenchDevice device;
  std::vector<std::string> baselines;
  Meter meter;

  Session(const Flags& flags, DataFiles& files, const Asked& asked, Bench& bench)
      : flags(flags),
        files(files),
        asked(asked),
        bench(bench),
        device(bench.device()),
        baselines(asked.baselines.value_or(asked.device.gpu
                                               ? std::vector<std::string>{"cub", kTorch}
                                               : std::vector<std::string>{})),
        meter(bench, asked.point_seconds) {}

  void note(const std::string& line) const { flags.note(line); }

  void deliver(Answer answer) const {
    answer.seed = asked.points.seed;
    gradcast::deliver(flags, files.inputs(), "", answer);
  }

  std::vector<CalibrationPoint> points(const PointsAsked& wanted) const {
    const auto baseline = [&](const std::string& name) {
      return std::find(baselines.begin(), baselines.end(), name) != baselines.end();
    };
    PointsOffered offered;
    offered.memory_bytes = device.memory_bytes;
    offered.memory_needed = [&](const BenchPoint& point) { return bench.memory_needed(point); };
    offered.implementations = [&](const std::string& compressor, Mode mode) {
      std::vector<std::string> names;
      for (const std::string& name : bench.implementations(compressor, mode))
        if (name.starts_with("gradcast") || baseline(name)) names.push_back(name);
      if (baseline(kTorch)) names.emplace_back(kTorch);
      return names;
    };
    CalibrationPoints made = make_points(wanted, offered);
    for (const std::string& line : made.notes) note(line);
    return made.points;
  }

  /// Where points of torch are among these. Returns the child's version; points of a torch that is
  /// not there are dropped.
  std::string start_torch(std::vector<CalibrationPoint>& points) {
    const auto of_torch = [](const CalibrationPoint& point) {
      return point.call.implementation == kTorch;
    };
    if (std::none_of(points.begin(), points.end(), of_torch)) return "";
    std::string version =
        meter.start_torch(torch_command(), [&](const std::string& line) { note(line); });
    if (version.empty()) std::erase_if(points, of_torch);
    return version;
  }

  /// The script lies in the source tree, or with the installed data.
  std::vector<std::string> torch_command() const {
    const char* const python = std::getenv("GRADCAST_PYTHON");
    std::filesystem::path script = files.root() / "kernels" / "bench" / "torch_baseline.py";
    if (const auto installed = files.root() / "torch_baseline.py";
        std::filesystem::exists(installed))
      script = installed;
    return {python != nullptr && *python != '\0' ? python : "python3", script.string(), "--serve",
            "--device", asked.device.gpu ? "cuda:" + std::to_string(asked.device.number) : "cpu"};
  }

  void note_discarded() const {
    if (meter.discarded() > 0)
      note(std::to_string(meter.discarded()) +
           " samples were discarded: the device's clock was throttled");
  }
};

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::filesystem::path output_of(const Flags& flags, const BenchDevice& device) {
  if (flags.given("output")) return flags.text("output");
  const std::string name = "cost-" + device.slug + ".csv";
  std::error_code ignored;
  return std::filesystem::is_directory("traces", ignored) ? "traces/" + name : name;
}

std::vector<Provenance> provenance_of(const Session& session) {
  const auto known = [](const std::string& text) { return text.empty() ? "none" : text; };
  return {
      {"", "Measured by `gradcast calibrate`: medians and 95th percentiles of cold-cache samples,"},
      {"", "  the residual restored before each."},
      {"device", known(session.device.name), true},
      {"driver", known(session.device.driver), true},
      {"toolkit", known(session.device.toolkit), true},
      {"clocks", known(session.device.clocks)},
      {"gradcast", GRADCAST_VERSION, true},
      {"seed", std::to_string(session.asked.points.seed), true},
      {"date", now_utc()}};
}

bool is_done(const CostFile& file, const CalibrationPoint& point) {
  const std::vector<CostRow> rows = rows_of(point, nullptr);
  return std::all_of(rows.begin(), rows.end(), [&](const CostRow& row) { return file.has(row); });
}

/// A line for each compressor, mode and implementation: from which size to which.
Answer summary_of(const CostFile& file, const std::vector<CalibrationPoint>& points) {
  std::set<std::string> asked;
  for (const CalibrationPoint& point : points)
    for (const CostRow& row : rows_of(point, nullptr)) asked.insert(key_of(row));
  struct Range {
    std::size_t points = 0;
    CostRow least, most;
  };
  using Key = std::tuple<std::string, std::string, std::string, double, std::string>;
  std::vector<Key> order;
  std::map<Key, Range> ranges;
  for (const CostRow& row : file.rows()) {
    if (!asked.contains(key_of(row)) || row.workers != points[0].call.workers[0]) continue;
    const Key key{row.compressor, row.mode, row.implementation, row.density, row.distribution};
    if (!ranges.contains(key)) order.push_back(key);
    Range& range = ranges[key];
    if (range.points == 0 || row.elements < range.least.elements) range.least = row;
    if (range.points == 0 || row.elements > range.most.elements) range.most = row;
    ++range.points;
  }
  TextTable table{{"compressor", "mode", "implementation", "density", "distribution", "points",
                   "elements from", "encode us", "to", "encode us"},
                  {}};
  Answer answer;
  for (const Key& key : order) {
    const Range& range = ranges.at(key);
    const auto& [compressor, mode, implementation, density, distribution] = key;
    table.rows.push_back({compressor, mode, implementation, number_to_text(density), distribution,
                          std::to_string(range.points), std::to_string(range.least.elements),
                          fixed(1e6 * range.least.encode.count(), 1),
                          std::to_string(range.most.elements),
                          fixed(1e6 * range.most.encode.count(), 1)});
    answer.rows.push_back({{"compressor", compressor},
                           {"mode", mode},
                           {"implementation", implementation},
                           {"density", density},
                           {"distribution", distribution},
                           {"points", range.points},
                           {"least_elements", range.least.elements},
                           {"least_encode_seconds", range.least.encode.count()},
                           {"most_elements", range.most.elements},
                           {"most_encode_seconds", range.most.encode.count()}});
  }
  answer.table = to_text(table);
  answer.summary = {{"file", file.path().string()}, {"rows", file.rows().size()}};
  return answer;
}

[[noreturn]] void interrupted(const std::string& what) {
  throw Error(ExitCode::Interrupted, "interrupted: " + what);
}

int write_costs(Session& session) {
  PointsAsked wanted = session.asked.points;
  wanted.sets = merged_sets(sets_of_models(session.asked.models),
                            session.asked.sweep ? sweep_sets() : std::vector<TensorSet>{});
  const std::vector<CalibrationPoint> all = session.points(wanted);
  if (all.empty()) throw MissingError("nothing of what is asked for can be measured here");
  CostFile file(output_of(session.flags, session.device), provenance_of(session), wanted.workers);
  const std::string name = file.path().string();

  std::vector<CalibrationPoint> missing;
  std::copy_if(all.begin(), all.end(), std::back_inserter(missing),
               [&](const CalibrationPoint& point) { return !is_done(file, point); });
  const auto progress = [&] {
    const auto done = std::count_if(all.begin(), all.end(), [&](const CalibrationPoint& point) {
      return is_done(file, point);
    });
    return std::to_string(done) + " of " + std::to_string(all.size()) + " points";
  };
  try {
    if (const std::string torch = session.start_torch(missing); !torch.empty())
      file.require({"torch", torch, true});
    if (missing.empty()) {
      session.note("nothing to do: " + progress() + " are in " + name);
    } else {
      session.note(progress() + " are in " + name + "; measuring " +
                   std::to_string(missing.size()) + " on " + session.device.name + ", about " +
                   about(session.asked.point_seconds * static_cast<double>(missing.size())));
      file.tell_command(join(session.flags.arguments(), " "));
      measure_all(
          missing, session.meter, session.flags.quiet(),
          [&](const CalibrationPoint& point, const BenchResult& result) {
            file.add(rows_of(point, &result));
          },
          [&](const std::string& line) { session.note(line); });
      session.note_discarded();
      session.note(progress() + " are in " + name);
    }
  } catch (const BenchInterrupted&) {
    interrupted(progress() + " are in " + name + "; the same command goes on from there");
  }
  session.deliver(summary_of(file, all));
  return 0;
}

/// The points with their results; nothing is kept in a file.
std::vector<RooflineEntry> measure_entries(Session& session, PointsAsked wanted) {
  wanted.workers.clear();  // no decode
  std::vector<CalibrationPoint> points = session.points(wanted);
  session.start_torch(points);
  std::vector<RooflineEntry> entries;
  measure_all(
      points, session.meter, session.flags.quiet(),
      [&](const CalibrationPoint& point, const BenchResult& result) {
        entries.push_back({point, result});
      },
      [&](const std::string& line) { session.note(line); });
  return entries;
}

int print_roofline(Session& session) {
  PointsAsked wanted = session.asked.points;
  wanted.sets = merged_sets(whole_models(session.asked.models),
                            session.asked.sweep ? sweep_sets() : std::vector<TensorSet>{});
  try {
    const std::vector<RooflineEntry> entries = measure_entries(session, wanted);
    if (entries.empty()) throw MissingError("nothing of what is asked for can be measured here");
    std::map<std::int64_t, BenchTiming> ceilings;
    for (const RooflineEntry& entry : entries)
      if (const std::int64_t elements = entry.point.elements(); !ceilings.contains(elements))
        ceilings[elements] = session.meter.ceiling(elements);
    session.note_discarded();
    session.deliver(roofline_answer(entries, ceilings));
    return 0;
  } catch (const BenchInterrupted&) {
    interrupted("the table was not finished");
  }
}

std::vector<TensorSet> distinct_tensors(const Model& model) {
  std::vector<TensorSet> sets;
  for (const GradientTensor& tensor : model.tensors) sets.push_back({tensor.elements});
  return merged_sets(sets, {});
}

std::vector<PerLayerColumn> columns_of(const std::vector<RooflineEntry>& entries) {
  std::vector<PerLayerColumn> columns;
  for (const RooflineEntry& entry : entries) {
    PerLayerColumn column{entry.point.call.compressor,
                          mode_text(entry.point.call.mode),
                          entry.point.call.implementation,
                          {}};
    auto found = std::find_if(columns.begin(), columns.end(), [&](const PerLayerColumn& known) {
      return known.title() == column.title();
    });
    if (found == columns.end()) found = columns.insert(columns.end(), std::move(column));
    found->encode[entry.point.elements()] = Seconds{entry.result.encode.median_seconds};
  }
  return columns;
}

int print_per_layer(Session& session) {
  const Model& model = session.asked.models[0];
  PointsAsked wanted = session.asked.points;
  if (session.asked.models.size() != 1 || wanted.densities.size() != 1 || wanted.inputs.size() != 1)
    throw UsageError("--per-layer shows one model at one density and one distribution");
  std::string trace_name = session.flags.text("trace");
  if (trace_name.empty()) trace_name = "iteration-" + model.name + "-v100";
  const IterationTrace trace = session.flags.value("trace", [&](const std::string&) {
    return load_iteration_trace(session.files.read(kIterationTraces, trace_name));
  });
  require_same_tensors(model, trace);
  wanted.sets = distinct_tensors(model);
  wanted.code_only = true;
  try {
    const auto columns = columns_of(measure_entries(session, wanted));
    if (columns.empty()) throw MissingError("nothing of what is asked for can be measured here");
    session.note_discarded();
    session.deliver(per_layer_answer(model, trace, columns));
  } catch (const BenchInterrupted&) {
    interrupted("the table was not finished");
  }
  if (trace.device != session.device.name)
    session.note("encode was timed on " + session.device.name + ", backward (" + trace_name +
                 ") is of " + trace.device);
  return 0;
}

}  // namespace

int calibrate(int argc, const char* const* argv) {
  Flags flags = make_flags();
  if (!flags.parse(argc, argv)) return 0;
  DataFiles files = DataFiles::standard();
  const Asked asked = read_asked(flags, files);
  const Interruption interruption;
  const std::unique_ptr<Bench> bench = open_device(asked.device);
  Session session(flags, files, asked, *bench);
  if (flags.given("per-layer")) return print_per_layer(session);
  if (flags.given("roofline")) return print_roofline(session);
  return write_costs(session);
}

}  // namespace gradcast::commands
