#include "sim/population/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/base/statistics.hpp"
#include "sim/base/table.hpp"
#include "sim/base/thread_pool.hpp"
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
  double score() const { return interval_score(Seconds{measured}, Seconds{low}, Seconds{high}); }
};

double mean_error(const std::vector<Judged>& rows) {
  double sum = 0;
  for (const Judged& row : rows) sum += std::abs(row.error_percent());
  return sum / static_cast<double>(rows.size());
}

double bias(const std::vector<Judged>& rows) {
  double sum = 0;
  for (const Judged& row : rows) sum += row.error_percent();
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

namespace {

/// The group of this place, forecast by all others.
JudgedGroup judged(const std::vector<SourceGroup>& groups, std::size_t g, const StackPriors& priors,
                   const std::vector<KnownTerm>& known, std::uint64_t seed) {
  const Engine& engine = *find_engine("analytic");
  const std::vector<const SourceGroup*> others = all_but(groups, g);
  std::vector<Residual> residuals;
  for (const SourceGroup* other : others)
    for (const FitRow& row : other->rows)
      residuals.push_back({std::log(row.run.iteration.count() / physics_of(row)),
                           1 / static_cast<double>(other->rows.size())});
  const std::string& name = groups[g].stack;
  const PopulationFit fit = fit_population(others, priors, seed);
  const bool seen = std::find(fit.stacks.begin(), fit.stacks.end(), name) != fit.stacks.end();
  const auto made = [&](const std::string& its, bool measured) {
    Stack stack = predicted_stack(fit, its, others);
    apply_known(stack, known, measured);
    return std::make_shared<const Stack>(std::move(stack));
  };
  const auto stack = made(name, seen);
  const auto population = made(std::string(population_of(transport_of(name))), true);
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
  return {groups[g].name,
          name,
          seen,
          groups[g].rows.size(),
          mean_error(by_stack),
          bias(by_stack),
          mean_error(by_physics),
          score_of(by_stack),
          score_of(by_population),
          score_of(by_physics)};
}

}  // namespace

Judgement judge_groups(const std::vector<SourceGroup>& groups, const StackPriors& priors,
                       const std::vector<KnownTerm>& known, std::uint64_t seed, std::size_t threads,
                       const std::function<void(std::size_t)>& progress) {
  Judgement judgement;
  judgement.groups.resize(groups.size());
  std::vector<std::size_t> places(groups.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::size_t done = 0;
  PoolWork pool;
  pool.work = [&](std::size_t g) {
    judgement.groups[g] = judged(groups, g, priors, known, seed);
    return std::string();
  };
  pool.done = [&](std::size_t, const std::string&) { progress(++done); };
  pool.name = [&](std::size_t g) { return "group " + groups[g].name; };
  run_in_threads(threads, places, pool);
  return judgement;
}

namespace {

void add_score(std::vector<std::string>& cells, const IntervalScore& score) {
  cells.push_back(fixed(score.coverage_percent, 0) + " %");
  cells.push_back(fixed(score.width_percent, 0));
  cells.push_back(fixed(score.score, 2));
}

using Of = IntervalScore JudgedGroup::*;
constexpr Of kOf[] = {&JudgedGroup::intervals, &JudgedGroup::unnamed, &JudgedGroup::residuals};

}  // namespace

std::string judgement_table(const Judgement& judgement) {
  TextTable table;
  table.header = {"group",     "stack",    "rows",      "error %", "bias %",
                  "physics %", "by stack", "width %",   "score",   "unnamed",
                  "width %",   "score",    "residuals", "width %", "score"};
  for (const JudgedGroup& group : judgement.groups) {
    table.rows.push_back({group.name, group.stack + (group.stack_seen ? "" : " (not seen)"),
                          std::to_string(group.rows), fixed(group.error_percent, 1),
                          with_sign(group.bias_percent, 1), fixed(group.physics_percent, 1)});
    for (const Of of : kOf) add_score(table.rows.back(), group.*of);
  }
  table.rows.push_back({"mean over groups", "", "",
                        fixed(judgement.mean(&JudgedGroup::error_percent), 1), "",
                        fixed(judgement.mean(&JudgedGroup::physics_percent), 1)});
  for (const Of of : kOf)
    add_score(table.rows.back(), {judgement.mean(of, &IntervalScore::coverage_percent),
                                  judgement.mean(of, &IntervalScore::width_percent),
                                  judgement.mean(of, &IntervalScore::score)});
  return "Each group is forecast by stacks that were estimated without it. Three intervals of 90 "
         "%, "
         "with how many\nmeasurements they hold: by stack; unnamed, where nobody says which stack "
         "it "
         "is; residuals, physics\nwith the residuals of the other groups. The score is the width "
         "and "
         "20 times what a measurement lies\noutside, on the logarithm of time: low is good.\n\n" +
         to_text(table);
}

std::vector<Json> judgement_rows(const Judgement& judgement) {
  std::vector<Json> rows;
  for (const JudgedGroup& group : judgement.groups)
    rows.push_back({{"group", group.name},
                    {"stack", group.stack},
                    {"stack_seen", group.stack_seen ? "yes" : "no"},
                    {"rows", group.rows},
                    {"mean_absolute_error_percent", group.error_percent},
                    {"bias_percent", group.bias_percent},
                    {"physics_mean_absolute_error_percent", group.physics_percent},
                    {"coverage_percent", group.intervals.coverage_percent},
                    {"median_interval_width_percent", group.intervals.width_percent},
                    {"interval_score", group.intervals.score},
                    {"unnamed_coverage_percent", group.unnamed.coverage_percent},
                    {"unnamed_median_interval_width_percent", group.unnamed.width_percent},
                    {"unnamed_interval_score", group.unnamed.score},
                    {"residuals_coverage_percent", group.residuals.coverage_percent},
                    {"residuals_median_interval_width_percent", group.residuals.width_percent},
                    {"residuals_interval_score", group.residuals.score}});
  return rows;
}

Json judgement_summary(const Judgement& judgement) {
  return {
      {"groups", judgement.groups.size()},
      {"mean_absolute_error_percent", judgement.mean(&JudgedGroup::error_percent)},
      {"physics_mean_absolute_error_percent", judgement.mean(&JudgedGroup::physics_percent)},
      {"coverage_percent",
       judgement.mean(&JudgedGroup::intervals, &IntervalScore::coverage_percent)},
      {"interval_score", judgement.mean(&JudgedGroup::intervals, &IntervalScore::score)},
      {"unnamed_coverage_percent",
       judgement.mean(&JudgedGroup::unnamed, &IntervalScore::coverage_percent)},
      {"unnamed_interval_score", judgement.mean(&JudgedGroup::unnamed, &IntervalScore::score)},
      {"residuals_interval_score", judgement.mean(&JudgedGroup::residuals, &IntervalScore::score)}};
}

}  // namespace gradcast
