// `gradcast simulate`: one iteration, and where its time goes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/answers/answer.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/sensitivity.hpp"
#include "sim/forecast/uncertainty.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/cost_holdout.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/options/engine_flag.hpp"
#include "sim/options/noise_flags.hpp"
#include "sim/options/request_flags.hpp"
#include "sim/options/transfer_flags.hpp"
#include "sim/plan/plan_summary.hpp"
#include "sim/timeline/timeline_flags.hpp"

namespace gradcast::commands {
namespace {

Flags make_flags() {
  Flags flags(
      "simulate",
      "Forecasts one iteration of synchronous data-parallel SGD, as the rank that finishes last\n"
      "sees it. Exposed communication: nothing was computed meanwhile. Wait: nor had every rank\n"
      "come to the collective yet. Overhead: the cluster's per-iteration overhead.",
      {"simulate --model resnet-50 --compressor gaussian",
       "simulate --model vgg-16 --nodes 8 --nic-bandwidth 25Gbps --fusion 25MiB --overlap yes",
       "simulate --model alexnet --compressor topk --density 0.01 --format json",
       "simulate --model resnet-50 --fusion layer --overlap yes --timeline resnet.json.gz"});
  add_request_flags(flags);
  add_transfer_flags(flags);
  add_noise_flags(flags);
  add_engine_flag(flags);
  add_timeline_flags(flags);
  return flags;
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

/// Tensors of each bucket, in backward order: "12+3+1".
std::string groups_of(const Plan& plan) {
  std::vector<std::string> sizes;
  for (const PlannedBucket& bucket : plan.buckets) sizes.push_back(std::to_string(bucket.tensors));
  return join(sizes, "+");
}

/// Everything that can change the answer.
Json settings_of(const Scenario& scenario, const Request& request, const Plan& plan,
                 const DataFiles& files, const NoiseChoice& noise, const std::string& engine) {
  Json settings;
  settings["model"] = scenario.model.name;
  settings["parameters"] = scenario.model.elements();
  settings["tensors"] = scenario.model.tensors.size();
  settings["trace"] = request.trace_name();
  settings["device"] = scenario.trace.device;
  settings["batch"] = scenario.batch();
  settings["accumulation"] = scenario.accumulation;
  settings["compressor"] = scenario.compressor->name;
  settings["fusion"] = to_text(scenario.fusion);
  settings["overlap"] = scenario.overlap ? "yes" : "no";
  settings["queue"] = to_text(scenario.queue);
  settings["network_streams"] = scenario.network_streams;
  settings["collective"] = collectives_of(plan);
  if (scenario.fusion.kind == Fusion::Kind::MgWfbp || scenario.fusion.kind == Fusion::Kind::Omgs)
    settings["groups"] = groups_of(plan);
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
    settings["costs_scaled_to"] = request.costs_device;
    settings["mode"] = plan.buckets.empty() ? "" : plan.buckets[0].cost.mode;
    settings["implementation"] = plan.buckets.empty() ? "" : plan.buckets[0].cost.implementation;
    settings["evidence"] = evidence_of(plan);
    settings["selection"] = to_text(scenario.selection);
    settings["encode_calls"] = encode_calls(plan);
    settings["encode_stream"] = to_text(scenario.encode_stream);
    settings["encode_slowdown"] = percent_to_text(scenario.encode_slowdown);
    settings["count_spread"] = percent_to_text(scenario.count_spread);
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
  settings["events"] = request.events;
  settings["concurrent_jobs"] = request.concurrent_jobs;
  settings["compute_jitter"] = percent_to_text(noise.noise.compute);
  settings["network_jitter"] = percent_to_text(noise.noise.network);
  settings["replicas"] = noise.replicas;
  settings["cluster"] = request.cluster;
  settings["ranks"] = plan.ranks();
  for (const ClusterProperty& property : properties_of(scenario.cluster))
    settings[property.name] = property.value;
  std::vector<std::string> read;
  for (const InputFile& input : files.inputs())
    read.push_back(input.typed + "=" + input.sha256.substr(0, 12));
  settings["inputs_sha256"] = join(read, " ");
  settings["engine"] = engine;
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
  Spread spread;
  // Not of a collective alone, nor of a run that never ended:
  std::optional<double> samples_per_second{};
  std::optional<double> scaling_efficiency{};
  std::optional<double> speedup_over_dense{};
  std::optional<MeasuredRun> measured{};  // the run that this is a forecast of, where there is one
  std::optional<LatencySensitivity> latency{};
  std::optional<ForecastInterval> interval{};  // where the cluster was fitted

  bool lost() const { return !result.lost.empty(); }
  double error_percent() const {
    return 100 * ((result.iteration - measured->iteration) / measured->iteration);
  }
};

/// How much a forecast changes with something, in percent of itself.
double change_percent(Seconds changed, Seconds as_is) { return 100 * ((changed - as_is) / as_is); }

/// What the forecast is sure of least, in words; "" for nothing in particular.
std::string least_sure(const Forecast& forecast, const Plan& plan) {
  constexpr double kMuch = 1;  // percent of the iteration
  std::vector<std::string> doubts;
  if (forecast.latency) {
    const auto& [half, as_is, twice] = *forecast.latency;
    if (change_percent(twice, as_is) > kMuch)
      doubts.push_back("latency (" + with_sign(change_percent(half, as_is), 1) + " % if half, " +
                       with_sign(change_percent(twice, as_is), 1) + " % if twice)");
  }
  if (const std::string evidence = evidence_of(plan); !evidence.empty() && evidence != "measured")
    doubts.push_back("compressor costs (" + evidence + ")");
  return join(doubts, "; ");
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json numbers_of(const Forecast& forecast, const Plan& plan, const NoiseChoice& noise) {
  const bool lost = forecast.lost();
  const auto seconds = [&](Seconds time) { return lost ? Json() : Json(time.count()); };
  Json numbers;
  numbers["iteration_seconds"] = seconds(forecast.result.iteration);
  for (const auto& [name, part] : parts_of(forecast.result)) {
    if (name == "exposed_communication")
      numbers["communication_seconds"] = seconds(forecast.result.communication);
    numbers[name + "_seconds"] = seconds(part);
  }
  numbers["hidden_codec_seconds"] = seconds(forecast.result.hidden_codec);
  numbers["samples_per_second"] = or_null(forecast.samples_per_second);
  numbers["scaling_efficiency"] = or_null(forecast.scaling_efficiency);
  numbers["speedup_over_dense"] = or_null(forecast.speedup_over_dense);
  const bool measured = forecast.measured.has_value() && !lost;
  numbers["measured_seconds"] = measured ? Json(forecast.measured->iteration.count()) : Json();
  numbers["error_percent"] = measured ? Json(forecast.error_percent()) : Json();
  numbers["measured_source"] = measured ? Json(forecast.measured->source) : Json();
  const auto latency = [&](Seconds LatencySensitivity::*which) {
    return forecast.latency ? Json(((*forecast.latency).*which).count()) : Json();
  };
  numbers["half_latency_seconds"] = latency(&LatencySensitivity::half);
  numbers["twice_latency_seconds"] = latency(&LatencySensitivity::twice);
  numbers["least_sure_of"] = least_sure(forecast, plan);
  const auto end = [&](Seconds ForecastInterval::*which) {
    return forecast.interval ? Json(((*forecast.interval).*which).count()) : Json();
  };
  numbers["interval_low_seconds"] = end(&ForecastInterval::low);
  numbers["interval_high_seconds"] = end(&ForecastInterval::high);
  if (noise.asked()) {
    const Spread& spread = forecast.spread;
    numbers["mean_low_seconds"] = seconds(spread.low);
    numbers["mean_high_seconds"] = seconds(spread.high);
    numbers["p05_seconds"] = seconds(spread.p05);
    numbers["median_seconds"] = seconds(spread.median);
    numbers["p95_seconds"] = seconds(spread.p95);
    numbers["lost_replicas"] = spread.lost;
  }
  numbers["lost"] = forecast.result.lost;
  numbers["engine"] = forecast.result.engine;
  numbers["flows_simulated"] = forecast.result.flows_simulated;
  return numbers;
}

std::string headline(const Forecast& forecast, const Plan& plan, const NoiseChoice& noise) {
  const IterationResult& result = forecast.result;
  TextTable table{{"forecast", ""}, {}};
  const auto add = [&](const std::string& name, const std::string& value) {
    table.rows.push_back({name, value});
  };
  const auto seconds = [](Seconds time) { return fixed(time.count(), 4); };
  if (forecast.lost()) {
    add("the run never ends", result.lost);
    return to_text(table);
  }
  add(noise.replicas > 1 ? "iteration (mean)" : "iteration", seconds(result.iteration) + " s");
  if (noise.replicas > 1) {
    const Spread& spread = forecast.spread;
    add("95 % interval of the mean", seconds(spread.low) + " to " + seconds(spread.high) + " s");
    add("5 %, 50 %, 95 % of the runs",
        seconds(spread.p05) + ", " + seconds(spread.median) + ", " + seconds(spread.p95) + " s");
    if (spread.lost > 0)
      add("runs that never ended",
          std::to_string(spread.lost) + " of " + std::to_string(spread.replicas));
  }
  if (forecast.samples_per_second)
    add("samples per second", fixed(*forecast.samples_per_second, 1));
  if (forecast.scaling_efficiency)
    add("scaling efficiency", fixed(100 * *forecast.scaling_efficiency, 1) + " %");
  if (forecast.speedup_over_dense)
    add("speedup over dense", fixed(*forecast.speedup_over_dense, 2));
  add("90 % interval", forecast.interval ? seconds(forecast.interval->low) + " to " +
                                               seconds(forecast.interval->high) + " s"
                                         : "none: the cluster was not fitted (`gradcast fit`)");
  if (forecast.measured)
    add("measured (" + forecast.measured->source + ")",
        seconds(forecast.measured->iteration) + " s, error " +
            with_sign(forecast.error_percent(), 1) + " %");
  if (const std::string doubts = least_sure(forecast, plan); !doubts.empty())
    add("least sure of", doubts);
  return to_text(table);
}

std::string as_table(const Json& settings, const Forecast& forecast, const Plan& plan,
                     const NoiseChoice& noise) {
  const IterationResult& result = forecast.result;
  TextTable parts{{"where the time goes", "seconds", "share %"}, {}};
  const auto add = [&](const std::string& name, Seconds part) {
    const bool some = result.iteration > Seconds{0};
    parts.rows.push_back(
        {name, fixed(part.count(), 4), some ? fixed(100 * (part / result.iteration), 1) : "-"});
  };
  for (auto [name, part] : parts_of(result)) {
    std::replace(name.begin(), name.end(), '_', ' ');
    add(name, part);
  }
  add("= iteration", result.iteration);
  parts.rows.push_back({});
  add("communication, hidden or not", result.communication);
  if (result.hidden_codec > Seconds{0}) add("encode and decode, hidden", result.hidden_codec);
  TextTable inputs{{"input", "value"}, {}};
  for (const auto& [name, value] : settings.items())
    inputs.rows.push_back({name, value_to_text(value)});
  return headline(forecast, plan, noise) + "\n" + (forecast.lost() ? "" : to_text(parts) + "\n") +
         to_text(inputs);
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
void note_choices(const Flags& flags, const Scenario& scenario, const Plan& plan,
                  const NoiseChoice& noise) {
  if (noise.replicas > 1 && !noise.noise.any() && scenario.count_spread == 0)
    flags.note(
        "all replicas are the same: nothing is drawn without --compute-jitter, "
        "--network-jitter or --count-spread");
  const bool training = scenario.payload.count == 0;
  if ((flags.given("batch") || flags.given("accumulation")) && training)
    flags.note("forward and backward are taken as proportional to the batch");
  if (scenario.fusion.kind == Fusion::Kind::MgWfbp && scenario.sparse())
    flags.note("mg-wfbp merges for dense all-reduces; omgs weighs what encoding costs");
  if (scenario.encode_stream == EncodeStream::Side && scenario.encode_slowdown == 0 &&
      scenario.sparse())
    flags.note(
        "compressors on the side stream are taken to cost backward nothing; --encode-slowdown says "
        "what they do");
  if (scenario.count_spread > 0 && (!scenario.sparse() || scenario.compressor->exact_count))
    flags.note("--count-spread changes nothing here: every rank selects as many elements");
  if (scenario.sparse() && plan.ranks() > 1) return;
  for (const char* flag : {"density", "mode", "costs", "scale-costs-to", "implementation",
                           "selection", "wire-bytes-per-element", "wire-messages"})
    if (flags.given(flag))
      flags.note("--" + std::string(flag) + " changes nothing here: nothing is compressed");
}

/// SimGrid needs about a microsecond a message.
void note_long_run(const Flags& flags, const Engine& engine, const Plan& plan,
                   const Cluster& cluster) {
  constexpr std::int64_t kMany = 3'000'000;
  constexpr int kManyNodes = 1'500;  // each a zone of SimGrid's, of which it looks through all
  if (engine.name.starts_with("simgrid") && cluster.nodes > kManyNodes &&
      plan.ranks() > cluster.nodes)
    flags.note("building a network of " + std::to_string(cluster.nodes) +
               " nodes takes a while; --engine analytic answers sooner");
  if (engine.name != "simgrid-exact") return;
  const std::int64_t messages = messages_of(plan, cluster);
  if (messages > kMany)
    flags.note("simulating " + std::to_string(messages) +
               " messages takes a while; --engine simgrid-fluid and analytic answer sooner");
}

Forecast make_forecast(const Scenario& scenario, const Plan& plan, const Engine& engine,
                       const NoiseChoice& noise) {
  const auto run_all = [&](const Scenario& which, const Plan& its_plan) {
    return run_replicas(which, its_plan, engine, noise.noise, noise.replicas);
  };
  const Replicated replicated = run_all(scenario, plan);
  Forecast forecast{replicated.mean, replicated.spread};
  if (forecast.lost()) return forecast;
  forecast.latency = latency_sensitivity(scenario, plan);
  const Seconds jitter = (forecast.spread.p95 - forecast.spread.p05) / (2 * kDeviationsToP95);
  forecast.interval = interval_of(scenario, plan, forecast.result, jitter);
  if (scenario.payload.count > 0) return forecast;
  const Seconds iteration = forecast.result.iteration;
  forecast.samples_per_second =
      static_cast<double>(plan.ranks()) * scenario.batch() / iteration.count();
  forecast.scaling_efficiency = alone(scenario) / iteration;
  forecast.speedup_over_dense = 1;
  if (scenario.sparse()) {
    const Scenario twin = dense_twin(scenario);
    const IterationResult dense = run_all(twin, make_plan(twin)).mean;
    forecast.speedup_over_dense =
        dense.lost.empty() ? std::optional(dense.iteration / iteration) : std::nullopt;
  }
  return forecast;
}

}  // namespace

int simulate(int argc, const char* const* argv) {
  Flags flags = make_flags();
  if (!flags.parse(argc, argv)) return 0;
  Request request = read_request(flags);
  const NoiseChoice noise = read_noise(flags);
  const Engine& engine = chosen_engine(flags);
  const TimelineChoice timeline = read_timeline(flags, engine);

  DataFiles files = DataFiles::standard();
  try {
    const TransferChoice transfer = read_transfer(flags, files);
    transfer.apply(request);
    const Scenario scenario = make_scenario(request, files);
    const Plan plan = make_plan(scenario);
    note_long_run(flags, engine, plan, scenario.cluster);
    Forecast forecast = make_forecast(scenario, plan, engine, noise);
    if (!noise.asked()) forecast.measured = measured_like(request, scenario, plan, files);

    const bool draws = noise.noise.any() || scenario.count_spread > 0;
    const Json seed = draws ? Json(request.seed) : Json();
    const std::vector<std::string> written =
        write_timeline(flags, timeline, {scenario, plan, engine, noise, files.inputs(), seed});

    const Json settings =
        settings_of(scenario, request, plan, files, noise, forecast.result.engine);
    Json row = numbers_of(forecast, plan, noise);
    row.update(settings);
    deliver(flags, files.inputs(), forecast.result.engine,
            {as_table(settings, forecast, plan, noise), {row}, nullptr, seed});
    for (const std::string& line : written) flags.note(line);
    note_engine(flags, engine);
    note_costs(flags, scenario, plan);
    if (scenario.sparse() && !plan.buckets.empty())
      note_transfer(flags, transfer,
                    {{request.costs, request.compressor, plan.buckets[0].cost.implementation}},
                    files);
    note_selection(flags, scenario, plan);
    note_choices(flags, scenario, plan, noise);
  } catch (const ValueError& error) {
    throw UsageError(error.what());
  }
  return 0;
}

}  // namespace gradcast::commands
