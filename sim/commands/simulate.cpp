// `gradcast simulate`: one iteration, and where its time goes.
#include <algorithm>
#include <utility>

#include "sim/document.hpp"
#include "sim/engine_flag.hpp"
#include "sim/flags.hpp"
#include "sim/iteration_result.hpp"
#include "sim/request.hpp"
#include "sim/table.hpp"

namespace gradcast::commands {
namespace {

std::string flag_of(std::string property) {
  std::replace(property.begin(), property.end(), '_', '-');
  return property;
}

Flags make_flags() {
  const Request defaults;
  Flags flags(
      "simulate", "Forecasts one iteration of synchronous data-parallel SGD.",
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
  flags.add("fusion", "layer, merged, or a bucket size such as 25MiB", to_text(defaults.fusion));
  flags.add("overlap", "communication with backward: yes or no", "no");
  flags.add("collective", "a name of `gradcast list` (default: the compressor's ring)");
  flags.add("wire-bytes-per-element", "of sparse gradients", "8");
  flags.add("wire-messages", "1: index-value pairs; 2: values and indices in a collective each",
            "1");
  flags.add("cluster", "a name of `gradcast list`, or a .csv file", defaults.cluster);
  for (const ClusterProperty& property : properties_of(Cluster{}))
    flags.add(flag_of(property.name), "instead of the cluster's");
  add_engine_flag(flags);
  return flags;
}

int small_count(std::string_view text) {
  const int count = parse_count(text);
  if (count > 1024) throw ValueError("'" + std::string(text) + "' is more than 1024");
  return count;
}

int one_or_two(std::string_view text) {
  const int count = parse_count(text);
  if (count > 2) throw ValueError("'" + std::string(text) + "' is not 1 or 2");
  return count;
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
  request.mode = flags.text("mode");
  request.costs = flags.text("costs");
  request.fusion = flags.value("fusion", parse_fusion);
  request.overlap = flags.value("overlap", parse_yes_no);
  request.collective = flags.text("collective");
  request.wire_bytes_per_element = flags.value("wire-bytes-per-element", small_count);
  request.wire_messages = flags.value("wire-messages", one_or_two);
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

/// Everything that can change the answer.
Json settings_of(const Scenario& scenario, const Request& request, const Plan& plan,
                 const Engine& engine) {
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
    settings["evidence"] = plan.buckets.empty() ? "" : plan.buckets[0].cost.evidence;
  }
  settings["cluster"] = request.cluster;
  settings["ranks"] = plan.ranks();
  for (const ClusterProperty& property : properties_of(scenario.cluster))
    settings[property.name] = property.value;
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

struct Answer {
  IterationResult result;
  double samples_per_second;
  double scaling_efficiency;
  double speedup_over_dense;
};

Json numbers_of(const Answer& answer, const Engine& engine) {
  Json numbers;
  numbers["iteration_seconds"] = answer.result.iteration.count();
  for (const auto& [name, part] : parts_of(answer.result)) {
    if (name == "exposed_communication")
      numbers["communication_seconds"] = answer.result.communication.count();
    numbers[name + "_seconds"] = part.count();
  }
  numbers["samples_per_second"] = answer.samples_per_second;
  numbers["scaling_efficiency"] = answer.scaling_efficiency;
  numbers["speedup_over_dense"] = answer.speedup_over_dense;
  numbers["engine"] = engine.name;
  numbers["flows_simulated"] = answer.result.flows_simulated;
  return numbers;
}

/// Settings, then numbers: one row.
std::string as_csv(const Json& settings, const Json& numbers) {
  Json row = settings;
  row.update(numbers);
  return rows_to_csv({row});
}

std::string as_table(const Json& settings, const Answer& answer) {
  const IterationResult& result = answer.result;
  TextTable headline{{"forecast", ""},
                     {{"iteration", fixed(result.iteration.count(), 4) + " s"},
                      {"samples per second", fixed(answer.samples_per_second, 1)},
                      {"scaling efficiency", fixed(100 * answer.scaling_efficiency, 1) + " %"},
                      {"speedup over dense", fixed(answer.speedup_over_dense, 2)}}};
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

/// What a cost table was asked beyond its range, each once.
void note_outside(const Flags& flags, const Plan& plan) {
  std::size_t buckets = 0;
  std::string first;
  for (const PlannedBucket& bucket : plan.buckets) {
    if (bucket.cost.outside.empty()) continue;
    if (buckets++ == 0) first = bucket.cost.outside;
  }
  if (buckets > 0)
    flags.note("costs of " + std::to_string(buckets) + " of " +
               std::to_string(plan.buckets.size()) +
               " buckets are extrapolated beyond the cost table (" + first + ")");
}

/// A forecast is as good as the costs it was fed.
void note_evidence(const Flags& flags, const Scenario& scenario, const Plan& plan) {
  if (plan.buckets.empty() || plan.buckets[0].cost.evidence.empty() ||
      plan.buckets[0].cost.evidence == "measured")
    return;
  flags.note("the costs of '" + std::string(scenario.compressor->name) + "' are " +
             plan.buckets[0].cost.evidence +
             ", not measured here; `gradcast compare` shows how far such forecasts are off");
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
  note_outside(flags, plan);
  note_evidence(flags, scenario, plan);
  Answer answer{summarize(plan, engine.run(plan, scenario.cluster)), 0, 0, 1};
  const Seconds iteration = answer.result.iteration;
  answer.samples_per_second =
      static_cast<double>(plan.ranks()) * scenario.trace.batch / iteration.count();
  answer.scaling_efficiency = scenario.trace.iteration() / iteration;
  if (scenario.sparse())
    answer.speedup_over_dense = run(dense_twin(scenario), engine).iteration / iteration;

  const Json settings = settings_of(scenario, request, plan, engine);
  const Json numbers = numbers_of(answer, engine);
  switch (flags.format()) {
    case Format::Table:
      flags.deliver(as_table(settings, answer));
      break;
    case Format::Csv:
      flags.deliver(as_csv(settings, numbers));
      break;
    case Format::Json: {
      Json document =
          make_document({"simulate", flags.arguments(), files.inputs(), std::string(engine.name)});
      Json result = numbers;
      result["settings"] = settings;
      document["results"] = Json::array({result});
      flags.deliver(to_text(document));
    }
  }
  return 0;
}

}  // namespace gradcast::commands
