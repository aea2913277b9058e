#include "sim/tta/iterations_needed.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/statistics.hpp"
#include "sim/forecast/interval.hpp"

namespace gradcast {
namespace {

/// The mean and the standard deviation of a few numbers.
void set_logs(IterationsNeeded& needed, const std::vector<double>& iterations) {
  const auto count = static_cast<double>(iterations.size());
  for (const double each : iterations) needed.mean_log += std::log(each) / count;
  double squares = 0;
  for (const double each : iterations) squares += std::pow(std::log(each) - needed.mean_log, 2);
  if (count > 1) needed.deviation_log = std::sqrt(squares / (count - 1));
}

/// Variance of one more training's logarithm about the mean of the others.
double variance_of_another(const IterationsNeeded& needed) {
  return std::pow(needed.deviation_log, 2) * (1 + 1 / static_cast<double>(needed.reached));
}

bool spread_known(const IterationsNeeded& needed) {
  return needed.complete() && needed.reached > 1;
}

double reach_of(std::size_t trainings) {
  return t_quantile(1 - (1 - kIntervalLevel) / 2, static_cast<double>(trainings) - 1);
}

}  // namespace

std::string IterationsNeeded::counted() const {
  return std::to_string(reached) + " of " + std::to_string(seeds);
}

IterationsNeeded iterations_needed(const TrainedSetup& setup, double percent) {
  IterationsNeeded needed;
  needed.seeds = setup.seeds.size();
  std::vector<double> iterations;
  for (const TrainingRun& run : setup.seeds) {
    const auto first = std::find_if(run.tests.begin(), run.tests.end(),
                                    [&](const auto& test) { return test.percent >= percent; });
    if (first == run.tests.end()) {
      const std::int64_t last = run.tests.back().iteration;
      needed.not_within = std::min(needed.not_within.value_or(last), last);
      continue;
    }
    // Nothing is trained in less than one iteration, and a logarithm needs it.
    const std::int64_t at = std::max<std::int64_t>(1, first->iteration);
    const std::int64_t before =
        first == run.tests.begin() ? 1 : std::max<std::int64_t>(1, (first - 1)->iteration);
    needed.looked_share =
        std::min(needed.looked_share, static_cast<double>(before) / static_cast<double>(at));
    needed.least = needed.reached == 0 ? at : std::min(needed.least, at);
    needed.most = std::max(needed.most, at);
    ++needed.reached;
    iterations.push_back(static_cast<double>(at));
  }
  if (iterations.empty()) return needed;
  needed.median = median(iterations);
  set_logs(needed, iterations);
  return needed;
}

std::optional<RatioInterval> interval_of(const IterationsNeeded& needed) {
  if (!spread_known(needed)) return std::nullopt;
  const double half = reach_of(needed.reached) * std::sqrt(variance_of_another(needed));
  // The trainings that were seen lie inside, however few they are.
  const double low = std::min(std::exp(needed.mean_log - half), static_cast<double>(needed.least));
  const double high = std::max(std::exp(needed.mean_log + half), static_cast<double>(needed.most));
  return RatioInterval{low * needed.looked_share, high};
}

std::optional<RatioInterval> ratio_interval(const IterationsNeeded& its,
                                            const IterationsNeeded& dense) {
  if (!spread_known(its) || !spread_known(dense)) return std::nullopt;
  const double half = reach_of(std::min(its.reached, dense.reached)) *
                      std::sqrt(variance_of_another(its) + variance_of_another(dense));
  const double ratio = *its.median / *dense.median;
  const double middle = its.mean_log - dense.mean_log;
  return RatioInterval{std::min(std::exp(middle - half), ratio) * its.looked_share,
                       std::max(std::exp(middle + half), ratio) / dense.looked_share};
}

}  // namespace gradcast
