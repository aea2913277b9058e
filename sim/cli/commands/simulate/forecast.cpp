#include "sim/cli/commands/simulate/forecast.hpp"

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/plan/plan_summary.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast::commands {
namespace {

/// The change of a forecast, in percent of the forecast as it is.
double change_percent(Seconds changed, Seconds as_is) { return 100 * ((changed - as_is) / as_is); }

/// The doubt about a named stack or a fitted cluster; none by physics alone.
ForecastDoubt software_doubt(const Scenario& scenario, const Plan& plan,
                             const IterationResult& result, Seconds jitter) {
  if (scenario.stack != nullptr) return doubt_of(scenario, plan, result, jitter);
  return {deviations_of(scenario, plan, result, jitter), std::nullopt};
}

}  // namespace

IterationForecast make_forecast(const Scenario& scenario, const Plan& plan, const Engine& engine,
                                const NoiseChoice& noise) {
  const auto run_all = [&](const Scenario& which, const Plan& its_plan) {
    return run_replicas(which, its_plan, engine, noise.noise, noise.replicas);
  };
  const Replicated replicated = run_all(scenario, plan);
  IterationForecast forecast{replicated.mean, replicated.spread};
  if (forecast.lost()) return forecast;
  forecast.memory = memory_of(scenario, plan);
  forecast.latency = latency_sensitivity(scenario, plan);
  const Seconds jitter = (forecast.spread.p95 - forecast.spread.p05) / (2 * kDeviationsToP95);
  forecast.doubt = doubt_of(scenario, plan, forecast.result, jitter);
  forecast.interval = interval_of(forecast.result.iteration, forecast.doubt);
  if (scenario.stack == nullptr && scenario.population != nullptr)
    forecast.sends_by = words_of(transport_of(scenario.population->name));
  if (scenario.stack == nullptr && scenario.population_by_mpi != nullptr) {
    Scenario by_mpi = scenario;
    by_mpi.population = scenario.population_by_mpi;
    forecast.interval_by_mpi = interval_of(by_mpi, plan, forecast.result, jitter);
  }
  forecast.physics = forecast.result.iteration;
  if (scenario.stack != nullptr) {
    const Scenario physics = without_stack(scenario);
    forecast.physics = run_all(physics, make_plan(physics)).mean.iteration;
  }
  for (const TermUse& use : scenario.stack_uses)
    if (!use.outside.empty()) forecast.outside_seen.push_back(use);
  if (scenario.payload.count > 0) return forecast;
  const Seconds iteration = forecast.result.iteration;
  forecast.samples_per_second =
      static_cast<double>(plan.ranks()) * scenario.batch() / iteration.count();
  forecast.scaling_efficiency = alone(scenario) / iteration;
  forecast.speedup_over_dense = 1;
  if (scenario.compresses() && plan.ranks() > 1) {  // one GPU sends nothing
    Scenario twin = dense_twin(scenario);
    apply_stack(twin);
    const Plan dense_plan = make_plan(twin);
    const IterationResult dense = run_all(twin, dense_plan).mean;
    forecast.speedup_over_dense = std::nullopt;
    if (!dense.lost.empty()) return forecast;
    forecast.speedup_over_dense = dense.iteration / iteration;
    const ForecastDoubt its_doubt = software_doubt(scenario, plan, forecast.result, jitter);
    if (!its_doubt.deviations && !its_doubt.spread) return forecast;
    const std::string name(scenario.compressor->name);
    forecast.verdict =
        verdict_on(name, {iteration, its_doubt},
                   {dense.iteration, software_doubt(twin, dense_plan, dense, jitter)},
                   scenario.stack == nullptr || costs_fitted(*scenario.stack, scenario));
  }
  return forecast;
}

std::vector<std::pair<std::string, Seconds>> parts_of(const IterationResult& result) {
  return {{"forward", result.forward},   {"backward", result.backward},
          {"encode", result.encode},     {"exposed_communication", result.exposed_communication},
          {"decode", result.decode},     {"update", result.update},
          {"overhead", result.overhead}, {"wait", result.wait}};
}

std::string least_sure(const IterationForecast& forecast, const Plan& plan) {
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

}  // namespace gradcast::commands
