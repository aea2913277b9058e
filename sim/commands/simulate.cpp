// `gradcast simulate`: one iteration, and where its time goes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/answer.hpp"
#include "sim/cost_holdout.hpp"
#include "sim/engine_flag.hpp"
#include "sim/iteration_result.hpp"
#include "sim/measured.hpp"
#include "sim/request.hpp"
#include "sim/table.hpp"
#include "sim/text.hpp"

namespace gradcast::commands {
namespace {

std::string flag_of(std::string property) {
  std::replace(property.begin(), property.end(), '_', '-');
  return property;
}

Flags make_flags() {
  const Request defaults;
  Flags flags(
      "simulate",
      "Forecasts one iteration of synchronous data-parallel SGD, as the rank that finishes last\n"
      "sees it. Exposed communication: nothing was computed meanwhile. Wait: nor had every rank\n"
      "come to the collective yet. Overhead: the cluster's per-iteration overhead.",
      {"simulate --model resnet-50 --compressor gaussian",
       "simulate --model vgg-16 --nodes 8 --nic-bandwidth 25Gbps --fusion 25MiB --overlap yes",
       "simulate --model alexnet --compressor topk --density 0.01 --format json"});
  flags.add("model", "a name of `gradcast list`, or a .csv file");
  flags.add("trace", "iteration trace (default: iteration-<model>-v100)");
  flags.add("batch", "images per GPU (default: the trace's)");
  flags.add("compressor", "a name of `gradcast list`", defaults.compressor);
  flags.add("density", "share of the elements that a sparse compressor keeps",
            number_to_text(defaults.density));
  flags.add("mode", "paper or code, where a compressor's text and its authors' code differ");
  flags.add("costs", "cost table of the compressors", defaults.costs);
  flags.add("implementation",
            "whose kernels: gradcast-cuda, torch, ... (default: the project's own, where the costs "
            "have them)");
  flags.add("fusion", "layer, merged, or a bucket size such as 25MiB", to_text(defaults.fusion));
  flags.add("selection",
            "merged: k of a bucket as one; per-tensor: k of each of its tensors, all in one call "
            "where the costs have it",
            to_text(defaults.selection));
  flags.add("overlap", "communication with backward: yes or no", "no");
  flags.add("collective", "a name of `gradcast list` (default: the compressor's ring)");
  flags.add("wire-bytes-per-element", "of sparse gradients", "8");
  flags.add("wire-messages", "1: index-value pairs; 2: values and indices in a collective each",
            "1");
  flags.add("cluster", "a name of `gradcast list`, or a .csv file", defaults.cluster);
  for (const ClusterProperty& property : properties_of(Cluster{}))
    flags.add(flag_of(property.name), property.help + " (default: the cluster's)");
  add_engine_flag(flags);
  return flags;
}

Request read_request(const Flags& flags) {
  Request request;
  request.model = flags.text("model");
  if (request.model.empty())
    throw UsageError("--model is missing: a name of `gradcast list`, or a .csv file");
  request.trace = flags.text("trace");
  if (flags.given("batch")) request.batch = flags.value("batch", parse_count);
  request.compressor = flags.text("compressor");
  request.density = flags.value("density", parse_density);
  request.mode = flags.value("mode", parse_mode);
  request.costs = flags.text("costs");
  request.implementation = flags.text("implementation");
  request.fusion = flags.value("fusion", parse_fusion);
  request.selection = flags.value("selection", parse_selection);
  request.overlap = flags.value("overlap", parse_yes_no);
  request.collective = flags.text("collective");
  request.wire_bytes_per_element = flags.value("wire-bytes-per-element", parse_wire_bytes);
  request.wire_messages = flags.value("wire-messages", parse_wire_messages);
  request.cluster = flags.text("cluster");
  for (const ClusterProperty& property : properties_of(Cluster{})) {
    const std::string flag = flag_of(property.name);
    if (!flags.given(flag)) continue;
    // Checked here, where the flag is known; applied by make_scenario.
    flags.value(flag, [&](const std::string& text) {
      Cluster tried;
      set_property(tried, property.name, text);
      return 0;
    });
    request.changed.push_back({property.name, flags.text(flag)});
  }
  return request;
}

/// How far interpolation is off in the rows that priced a plan.
HoldOut interpolation_of(const Scenario& scenario, const Plan& plan) {
  if (plan.buckets.empty()) return {};
  const CostEstimate& cost = plan.buckets[0].cost;
  const CompressorCosts used(scenario.costs, {.compressor = std::string(scenario.compressor->name),
                                              .mode = cost.mode,
                                              .implementation = cost.implementation});
  return held_out_error({scenario.costs.name, used.rows()});
}

/// Everything that can change the answer.
Json settings_of(const Scenario& scenario, const Request& request, const Plan& plan,
                 const DataFiles& files, const Engine& engine) {
  Json settings;
  settings["model"] = scenario.model.name;
  settings["parameters"] = scenario.model.elements();
  settings["tensors"] = scenario.model.tensors.size();
  settings["trace"] = request.trace_name();
  settings["device"] = scenario.trace.device;
  settings["batch"] = scenario.trace.batch;
  settings["compressor"] = scenario.compressor->name;
  settings["fusion"] = to_text(scenario.fusion);
  settings["overlap"] = scenario.overlap ? "yes" : "no";
  settings["collective"] = scenario.collective->name;
  settings["buckets"] = plan.buckets.size();
  std::int64_t payload = 0;
  std::int64_t selected = 0;
  for (const PlannedBucket& bucket : plan.buckets) {
    payload += bucket.payload.count;
    selected += bucket.selected;
  }
  settings["payload_bytes_per_rank"] = payload;
  if (scenario.sparse()) {
    settings["density"] = scenario.density;
    settings["selected_elements"] = selected;
    settings["wire_bytes_per_element"] = scenario.wire_bytes_per_element;
    settings["wire_messages"] = scenario.wire_messages;
    settings["costs"] = request.costs;
    settings["mode"] = plan.buckets.empty() ? "" : plan.buckets[0].cost.mode;
    settings["implementation"] = plan.buckets.empty() ? "" : plan.buckets[0].cost.implementation;
    settings["evidence"] = evidence_of(plan);
    settings["selection"] = to_text(scenario.selection);
    settings["encode_calls"] = encode_calls(plan);
    settings["interpolated_buckets"] =
        std::count_if(plan.buckets.begin(), plan.buckets.end(),
                      [](const PlannedBucket& bucket) { return bucket.cost.interpolated; });
    const ErrorSummary errors = interpolation_of(scenario, plan).errors;
    const auto rounded = [&](double percent) {
      return errors.rows > 0 ? Json(std::round(100 * percent) / 100) : Json();
    };
    settings["interpolation_error_percent"] = rounded(errors.median_absolute);
    settings["interpolation_error_p90_percent"] = rounded(errors.p90_absolute);
  }
  settings["cluster"] = request.cluster;
  settings["ranks"] = plan.ranks();
  for (const ClusterProperty& property : properties_of(scenario.cluster))
    settings[property.name] = property.value;
  std::vector<std::string> read;
  for (const InputFile& input : files.inputs())
    read.push_back(input.typed + "=" + input.sha256.substr(0, 12));
  settings["inputs_sha256"] = join(read, " ");
  settings["engine"] = engine.name;
  return settings;
}

/// The parts that add up to the iteration, in the order of the design.
std::vector<std::pair<std::string, Seconds>> parts_of(const IterationResult& result) {
  return {{"forward", result.forward},   {"backward", result.backward},
          {"encode", result.encode},     {"exposed_communication", result.exposed_communication},
          {"decode", result.decode},     {"update", result.update},
          {"overhead", result.overhead}, {"wait", result.wait}};
}

struct Forecast {
  IterationResult result;
  double samples_per_second;
  double scaling_efficiency;
  double speedup_over_dense;
  std::optional<MeasuredRun> measured{};  // the run that this is a forecast of, where there is one

  double error_percent() const {
    return 100 * ((result.iteration - measured->iteration) / measured->iteration);
  }
};

Json numbers_of(const Forecast& forecast, const Engine& engine) {
  Json numbers;
  numbers["iteration_seconds"] = forecast.result.iteration.count();
  for (const auto& [name, part] : parts_of(forecast.result)) {
    if (name == "exposed_communication")
      numbers["communication_seconds"] = forecast.result.communication.count();
    numbers[name + "_seconds"] = part.count();
  }
  numbers["samples_per_second"] = forecast.samples_per_second;
  numbers["scaling_efficiency"] = forecast.scaling_efficiency;
  numbers["speedup_over_dense"] = forecast.speedup_over_dense;
  const bool measured = forecast.measured.has_value();
  numbers["measured_seconds"] = measured ? Json(forecast.measured->iteration.count()) : Json();
  numbers["error_percent"] = measured ? Json(forecast.error_percent()) : Json();
  numbers["measured_source"] = measured ? Json(forecast.measured->source) : Json();
  numbers["engine"] = engine.name;
  numbers["flows_simulated"] = forecast.result.flows_simulated;
  return numbers;
}

std::string as_table(const Json& settings, const Forecast& forecast) {
  const IterationResult& result = forecast.result;
  TextTable headline{{"forecast", ""},
                     {{"iteration", fixed(result.iteration.count(), 4) + " s"},
                      {"samples per second", fixed(forecast.samples_per_second, 1)},
                      {"scaling efficiency", fixed(100 * forecast.scaling_efficiency, 1) + " %"},
                      {"speedup over dense", fixed(forecast.speedup_over_dense, 2)}}};
  if (forecast.measured)
    headline.rows.push_back({"measured (" + forecast.measured->source + ")",
                             fixed(forecast.measured->iteration.count(), 4) + " s, error " +
                                 with_sign(forecast.error_percent(), 1) + " %"});
  TextTable parts{{"where the time goes", "seconds", "share %"}, {}};
  for (auto [name, part] : parts_of(result)) {
    std::replace(name.begin(), name.end(), '_', ' ');
    parts.rows.push_back({name, fixed(part.count(), 4), fixed(100 * (part / result.iteration), 1)});
  }
  parts.rows.push_back({"= iteration", fixed(result.iteration.count(), 4), "100.0"});
  parts.rows.push_back({});
  parts.rows.push_back({"communication, hidden or not", fixed(result.communication.count(), 4),
                        fixed(100 * (result.communication / result.iteration), 1)});
  TextTable inputs{{"input", "value"}, {}};
  for (const auto& [name, value] : settings.items())
    inputs.rows.push_back({name, value_to_text(value)});
  return to_text(headline) + "\n" + to_text(parts) + "\n" + to_text(inputs);
}

/// What a reader of the forecast should know of it.
void note_costs(const Flags& flags, const Scenario& scenario, const Plan& plan) {
  const std::string compressor(scenario.compressor->name);
  if (const std::string outside = outside_of(plan); !outside.empty())
    flags.note("the costs of '" + compressor + "' are asked for beyond the cost table (" + outside +
               ")");
  const std::string evidence = evidence_of(plan);
  const bool partly = evidence.find("measured") != std::string::npos;
  if (!evidence.empty() && evidence != "measured")
    flags.note(
        "the costs of '" + compressor + "' are " +
        (partly ? "measured in part only (" + evidence + ")" : evidence + ", not measured here") +
        "; `gradcast compare` shows how far such forecasts are off");
  if (scenario.sparse() && !scenario.costs.device.empty() &&
      scenario.costs.device != scenario.trace.device)
    flags.note("compressing was timed on " + scenario.costs.device + ", the model on " +
               scenario.trace.device);
}

/// One call for a bucket's tensors takes a row of just those; without, each is charged a call.
void note_selection(const Flags& flags, const Scenario& scenario, const Plan& plan) {
  if (!scenario.sparse() || scenario.selection == SelectionScope::Merged) return;
  for (const PlannedBucket& bucket : plan.buckets)
    if (bucket.cost.calls > 1) {
      flags.note("the cost table has no row of " + std::to_string(bucket.tensors) +
                 " tensors with " + std::to_string(bucket.elements) +
                 " elements in one call; each tensor is charged a call of its own");
      return;
    }
}

/// Choices that do not change the answer, or change it in a way that a reader should know.
void note_choices(const Flags& flags, const Scenario& scenario, const Plan& plan) {
  if (flags.given("batch"))
    flags.note("forward and backward are taken as proportional to the batch");
  if (scenario.sparse() && plan.ranks() > 1) return;
  for (const char* flag : {"density", "mode", "costs", "implementation", "selection",
                           "wire-bytes-per-element", "wire-messages"})
    if (flags.given(flag))
      flags.note("--" + std::string(flag) + " changes nothing here: nothing is compressed");
}

/// SimGrid needs about a microsecond a message.
void note_long_run(const Flags& flags, const Engine& engine, const Plan& plan) {
  constexpr std::int64_t kMany = 3'000'000;
  if (engine.name == "simgrid" && messages_of(plan) > kMany)
    flags.note("simulating " + std::to_string(messages_of(plan)) +
               " messages takes a while; --engine analytic answers at once");
}

}  // namespace

int simulate(int argc, const char* const* argv) {
  Flags flags = make_flags();
  if (!flags.parse(argc, argv)) return 0;
  const Request request = read_request(flags);
  const Engine& engine = chosen_engine(flags);

  DataFiles files = DataFiles::standard();
  Scenario scenario;
  try {
    scenario = make_scenario(request, files);
  } catch (const ValueError& error) {
    throw UsageError(error.what());
  }
  const Plan plan = make_plan(scenario);
  note_long_run(flags, engine, plan);
  Forecast forecast{summarize(plan, engine.run(plan, scenario.cluster)), 0, 0, 1};
  const Seconds iteration = forecast.result.iteration;
  forecast.samples_per_second =
      static_cast<double>(plan.ranks()) * scenario.trace.batch / iteration.count();
  forecast.scaling_efficiency = scenario.trace.iteration() / iteration;
  if (scenario.sparse())
    forecast.speedup_over_dense = run(dense_twin(scenario), engine).iteration / iteration;

  forecast.measured = measured_like(request, scenario, plan, files);

  const Json settings = settings_of(scenario, request, plan, files, engine);
  Json row = numbers_of(forecast, engine);
  row.update(settings);
  deliver(flags, files.inputs(), engine.name, {as_table(settings, forecast), {row}, nullptr});
  note_engine(flags, engine);
  note_costs(flags, scenario, plan);
  note_selection(flags, scenario, plan);
  note_choices(flags, scenario, plan);
  return 0;
}

}  // namespace gradcast::commands
