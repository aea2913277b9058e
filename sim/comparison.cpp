#include "sim/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "sim/suspects.hpp"
#include "sim/uncertainty.hpp"

namespace gradcast {
namespace {

/// The smallest value that at least `share` of the sorted values do not exceed.
double nearest_rank(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

/// What the row left to us, as it was chosen: a reader of the answer must not have to guess.
void fill_in_defaults(MeasuredRun& run, const Request& request, const Scenario& scenario,
                      const Plan& plan) {
  run.trace = request.trace_name();
  run.collective = collectives_of(plan);
  if (scenario.cluster.platform_file.empty()) {
    run.nic_bandwidth = to_text(scenario.cluster.nic.bandwidth);
    run.nic_latency = to_text(scenario.cluster.nic.latency);
  }
  if (!scenario.sparse() || plan.buckets.empty()) return;
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

ComparedRun compare_run(const MeasuredRun& run, const Request& request, const Scenario& scenario,
                        const Plan& plan, IterationResult forecast) {
  ComparedRun compared{.run = run, .forecast = std::move(forecast)};
  compared.ranks = plan.ranks();
  compared.asked_collective = run.collective;
  if (scenario.sparse() && !plan.buckets.empty())
    compared.implementation = plan.buckets[0].cost.implementation;
  compared.evidence = evidence_of(plan);
  compared.outside = outside_of(plan);
  compared.outside_model = run.outside;
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
    if (const auto interval = interval_of(scenario, plan, forecast)) {
      compared.low = interval->low;
      compared.high = interval->high;
    }
    if (explain && compared.counts() && std::abs(compared.error_percent()) > kLargeErrorPercent)
      compared.suspects = to_text(suspects_of(scenario, run.iteration));
    return compared;
  });
}

double median_of(std::vector<double> values) {
  if (values.empty()) throw std::logic_error("no values have a median");
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

ErrorSummary summarize_errors(const std::vector<double>& errors_percent) {
  if (errors_percent.empty()) throw std::logic_error("no errors to summarize");
  const auto count = static_cast<double>(errors_percent.size());
  std::vector<double> absolute;
  ErrorSummary summary;
  summary.rows = errors_percent.size();
  for (const double error : errors_percent) {
    absolute.push_back(std::abs(error));
    if (std::abs(error) > std::abs(summary.worst)) summary.worst = error;
  }
  std::sort(absolute.begin(), absolute.end());
  summary.mean_absolute = std::accumulate(absolute.begin(), absolute.end(), 0.0) / count;
  summary.median_absolute = median_of(absolute);
  summary.p90_absolute = nearest_rank(absolute, 0.9);
  summary.bias = std::accumulate(errors_percent.begin(), errors_percent.end(), 0.0) / count;
  return summary;
}

}  // namespace gradcast
