#include "sim/compare/comparison.hpp"

#include <cmath>

#include "sim/forecast/preset.hpp"
#include "sim/forecast/suspects.hpp"
#include "sim/forecast/verdict.hpp"
#include "sim/plan/plan_summary.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
namespace {

/// Fills in the values that the row left open, as they were chosen, so that a reader of the answer
/// need not guess.
void fill_in_defaults(MeasuredRun& run, const Request& request, const Scenario& scenario,
                      const Plan& plan) {
  run.trace = request.trace_name();
  run.collective = collectives_of(plan);
  run.wire_bytes_per_element = scenario.wire_bytes_per_element;
  if (scenario.cluster.platform_file.empty()) {
    run.nic_bandwidth = to_text(scenario.cluster.nic.bandwidth);
    run.nic_latency = to_text(scenario.cluster.nic.latency);
    run.nccl_settings = scenario.cluster.nccl_settings.text;
  }
  if (!scenario.compresses() || plan.buckets.empty()) return;
  run.costs = request.costs;
  run.mode = plan.buckets[0].cost.mode;
}

}  // namespace

double ComparedRun::error_percent() const {
  return 100 * ((predicted() - run.iteration) / run.iteration);
}

Seconds ComparedRun::unexplained() const { return run.iteration - predicted(); }

double ComparedRun::measured_efficiency() const { return run.compute / run.iteration; }

double ComparedRun::predicted_efficiency() const { return run.compute / predicted(); }

std::string ComparedRun::pays_sure() const { return yes_or_no(pays_by(speedup_interval)); }

std::string ComparedRun::verdict() const {
  return is_compressed() && predicted_speedup ? to_text(pays_by(speedup_interval)) : "";
}

Request unseen_request(const std::string& measured_path, const MeasuredRun& run, DataFiles& files) {
  return naming_row(measured_path, run,
                    [&] { return unseen_request(request_of(run, files), run.source, files); });
}

ComparedRun compare_run(const MeasuredRun& run, const Request& request, const Scenario& scenario,
                        const Plan& plan, IterationResult forecast) {
  ComparedRun compared{.run = run, .forecast = std::move(forecast)};
  compared.ranks = plan.ranks();
  compared.asked_collective = run.collective;
  if (scenario.compresses() && !plan.buckets.empty())
    compared.implementation = plan.buckets[0].cost.implementation;
  compared.evidence = evidence_of(plan);
  compared.outside = outside_of(plan);
  compared.outside_model = run.outside;
  compared.stack = request.stack;
  compared.physics = compared.forecast.iteration;
  compared.outside_seen = outside_seen(scenario);
  fill_in_defaults(compared.run, request, scenario, plan);
  if (!compared.forecast.lost.empty()) throw ValueError(compared.forecast.lost);
  return compared;
}

ComparedRun compare_run(const std::string& measured_path, const MeasuredRun& run,
                        const Request& request, const Engine& engine, bool explain,
                        DataFiles& files) {
  return naming_row(measured_path, run, [&] {
    const Scenario scenario = make_scenario(request, files);
    const Plan plan = make_plan(scenario);
    const IterationResult forecast =
        summarize(plan, engine.run(plan, scenario.cluster, scenario.world));
    ComparedRun compared = compare_run(run, request, scenario, plan, forecast);
    if (scenario.stack != nullptr)
      compared.physics = gradcast::run(without_stack(scenario), engine).iteration;
    compared.doubt = doubt_of(scenario, plan, forecast);
    if (const auto interval = interval_of(compared.predicted(), compared.doubt)) {
      compared.low = interval->low;
      compared.high = interval->high;
    }
    if (explain && compared.counts() && std::abs(compared.error_percent()) > kLargeErrorPercent)
      compared.suspects = to_text(suspects_of(scenario, run.iteration));
    return compared;
  });
}

}  // namespace gradcast
