// `gradcast simulate`: one iteration, and the parts of its time. This file reads the flags;
// simulate/ computes and prints.
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/base/error.hpp"
#include "sim/cli/commands/simulate/counts.hpp"
#include "sim/cli/commands/simulate/forecast.hpp"
#include "sim/cli/commands/simulate/notes.hpp"
#include "sim/cli/commands/simulate/numbers.hpp"
#include "sim/cli/commands/simulate/settings.hpp"
#include "sim/cli/commands/simulate/table.hpp"
#include "sim/forecast/link_doubt.hpp"
#include "sim/forecast/measured_like.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/request.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/options/assumption_notes.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/request_flags.hpp"
#include "sim/options/transfer_flags.hpp"
#include "sim/plan/plan.hpp"
#include "sim/timeline/timeline_flags.hpp"

namespace gradcast::commands {
namespace {

Flags simulate_flags() {
  Flags flags(
      "simulate",
      "Forecasts one iteration of synchronous data-parallel SGD, as the rank that finishes last\n"
      "sees it. Exposed communication: nothing was computed meanwhile. Wait: nor had every rank\n"
      "come to the collective yet, or the host had launched nothing. Overhead: the cluster's\n"
      "per-iteration overhead.",
      {"simulate --model resnet-50 --compressor gaussian",
       "simulate --model vgg-16 --nodes 8 --nic-bandwidth 25Gbps --fusion 25MiB --overlap yes",
       "simulate --model alexnet --compressor topk --density 0.01 --format json",
       "simulate --model fnn-3 --compressor gaussian --counts counts.csv",
       "simulate --model resnet-50 --fusion layer --overlap yes --timeline resnet.json.gz"});
  add_request_flags(flags);
  add_counts_flag(flags);
  add_transfer_flags(flags);
  add_noise_flags(flags);
  add_engine_flag(flags);
  add_timeline_flags(flags);
  return flags;
}

}  // namespace

int simulate(int argc, const char* const* argv) {
  Flags flags = simulate_flags();
  if (!flags.parse(argc, argv)) return 0;
  Request request = read_request(flags);
  const NoiseChoice noise = read_noise(flags);
  const Engine& engine = chosen_engine(flags);
  const TimelineChoice timeline = read_timeline(flags, engine);

  DataFiles files = DataFiles::standard();
  try {
    const TransferChoice transfer = read_transfer(flags, files);
    transfer.apply(request);
    std::optional<CountsUsed> counts = read_counts(flags, request, files);
    request = with_defaults(request, files);
    if (request.best_schedule) request = fastest(request, engine, files);
    const Scenario scenario = make_scenario(request, files);
    const Plan plan = make_plan(scenario);
    note_long_run(flags, engine, plan, scenario.cluster);
    IterationForecast forecast = make_forecast(scenario, plan, engine, noise);
    if (counts) {
      forecast_counts(*counts, scenario, engine, noise);
      forecast.counts = counts;
    }
    if (!noise.asked()) forecast.measured = measured_like(request, scenario, plan, files);

    const bool draws = noise.noise.any() || scenario.count_spread > 0;
    const Json seed = draws ? Json(request.seed) : Json();
    const std::vector<std::string> written =
        write_timeline(flags, timeline, {scenario, plan, engine, noise, files.inputs(), seed});

    Json settings = settings_of(scenario, request, plan, files, noise, forecast.result.engine);
    if (forecast.doubt.spread)
      settings["assumed"] =
          assumed_words(request, scenario) + link_words(scenario, *forecast.doubt.spread);
    if (counts) settings.update(counts_settings(*counts));
    Json row = numbers_of(forecast, plan, noise);
    if (counts) row.update(counts_numbers(*counts));
    row.update(settings);
    deliver(flags, files.inputs(), forecast.result.engine,
            {as_table(settings, forecast, plan, noise), {row}, nullptr, seed});
    for (const std::string& line : written) flags.note(line);
    note_costs(flags, request, scenario, plan);
    if (counts) note_counts(flags, *counts, scenario);
    note_untimed(flags, {request}, files);
    if (!counts) note_density(flags, {request.compressor});
    note_trace_evidence(flags, request, files);
    note_cpus_trace(flags, {request}, files);
    note_usual_cluster(flags, request);
    note_sharding(flags, {request}, files);
    note_gpus_of_node(flags, {request}, files);
    note_memory(flags, {request}, files);
    if (scenario.compresses() && !plan.buckets.empty()) {
      note_transfer(flags, transfer,
                    {{request.costs, request.compressor, plan.buckets[0].cost.implementation}},
                    files);
      note_usual_costs(flags, transfer, request, files);
    }
    note_selection(flags, scenario, plan);
    note_choices(flags, scenario, plan, noise);
  } catch (const ValueError& error) {
    throw UsageError(error.what());
  }
  return 0;
}

}  // namespace gradcast::commands
