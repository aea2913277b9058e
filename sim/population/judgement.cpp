#include "sim/population/judgement.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/statistics.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/evaluation.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
namespace {

constexpr double kAlpha = 1 - kIntervalLevel;

struct Judged {
  double measured = 0;
  double forecast = 0;
  double low = 0;
  double high = 0;

  double error_percent() const { return 100 * (forecast / measured - 1); }
  bool inside() const { return measured >= low && measured <= high; }
  double score() const {
    const double y = std::log(measured);
    const double l = std::log(low);
    const double h = std::log(high);
    return h - l + 2 / kAlpha * (std::max(0.0, l - y) + std::max(0.0, y - h));
  }
};

double mean_error(const std::vector<Judged>& rows) {
  double sum = 0;
  for (const Judged& row : rows) sum += std::abs(row.error_percent());
  return sum / static_cast<double>(rows.size());
}

IntervalScore score_of(const std::vector<Judged>& rows) {
  IntervalScore score;
  std::vector<double> widths;
  for (const Judged& row : rows) {
    score.coverage_percent += row.inside() ? 100.0 / static_cast<double>(rows.size()) : 0;
    score.score += row.score() / static_cast<double>(rows.size());
    widths.push_back(100 * (row.high - row.low) / row.forecast);
  }
  score.width_percent = median(widths);
  return score;
}

double physics_of(const FitRow& row) {
  return run(row.scenario, *find_engine("analytic")).iteration.count();
}

/// The logarithm of measured over physics, with the weight that makes groups weigh alike.
struct Residual {
  double value;
  double weight;
};

double quantile(std::vector<Residual> residuals, double share) {
  std::sort(residuals.begin(), residuals.end(),
            [](const Residual& a, const Residual& b) { return a.value < b.value; });
  double below = 0;
  double all = 0;
  for (const Residual& each : residuals) all += each.weight;
  for (const Residual& each : residuals)
    if ((below += each.weight) >= share * all) return each.value;
  return residuals.back().value;
}

}  // namespace

double Judgement::mean(double JudgedGroup::*of) const {
  double sum = 0;
  for (const JudgedGroup& group : groups) sum += group.*of;
  return sum / static_cast<double>(groups.size());
}

double Judgement::mean(IntervalScore JudgedGroup::*intervals, double IntervalScore::*of) const {
  double sum = 0;
  for (const JudgedGroup& group : groups) sum += group.*intervals.*of;
  return sum / static_cast<double>(groups.size());
}

Judgement judge_groups(const std::vector<SourceGroup>& groups, const StackPriors& priors,
                       const std::function<void(std::size_t, std::size_t)>& progress) {
  Judgement judgement;
  const Engine& engine = *find_engine("analytic");
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<const SourceGroup*> others;
    std::vector<Residual> residuals;
    for (std::size_t h = 0; h < groups.size(); ++h) {
      if (h == g) continue;
      others.push_back(&groups[h]);
      for (const FitRow& row : groups[h].rows)
        residuals.push_back({std::log(row.run.iteration.count() / physics_of(row)),
                             1 / static_cast<double>(groups[h].rows.size())});
    }
    const PopulationFit fit = fit_population(others, priors, 1);
    const auto stack = std::make_shared<const Stack>(predicted_stack(fit, groups[g].stack, others));
    const auto population =
        std::make_shared<const Stack>(predicted_stack(fit, kPopulationName, others));
    const double low = std::exp(quantile(residuals, kAlpha / 2));
    const double high = std::exp(quantile(residuals, 1 - kAlpha / 2));
    std::vector<Judged> by_stack;
    std::vector<Judged> by_population;
    std::vector<Judged> by_physics;
    for (const FitRow& row : groups[g].rows) {
      const double measured = row.run.iteration.count();
      const double physics = physics_of(row);
      by_physics.push_back({measured, physics, physics * low, physics * high});
      Scenario scenario = row.scenario;
      scenario.stack = stack;
      apply_stack(scenario);
      const Evaluation its = evaluate(scenario, engine);
      by_stack.push_back({measured, its.result.iteration.count(), its.interval->low.count(),
                          its.interval->high.count()});
      Scenario nameless = row.scenario;
      nameless.population = population;
      const Evaluation unnamed = evaluate(nameless, engine);
      by_population.push_back(
          {measured, physics, unnamed.interval->low.count(), unnamed.interval->high.count()});
    }
    judgement.groups.push_back(
        {groups[g].name, groups[g].stack,
         std::find(fit.stacks.begin(), fit.stacks.end(), groups[g].stack) != fit.stacks.end(),
         groups[g].rows.size(), mean_error(by_stack), mean_error(by_physics), score_of(by_stack),
         score_of(by_population), score_of(by_physics)});
    if (progress) progress(g + 1, groups.size());
  }
  return judgement;
}

}  // namespace gradcast
