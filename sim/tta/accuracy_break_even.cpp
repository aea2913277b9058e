#include "sim/tta/accuracy_break_even.hpp"

#include <algorithm>
#include <cmath>

#include "sim/breakeven/forecasts.hpp"

namespace gradcast {
namespace {

/// The ratio of iterations to dense's: the typical value and its interval.
struct MoreIterations {
  double typical = 1;
  std::optional<RatioInterval> interval = RatioInterval{1, 1};  // single iterations
};

/// A forecast of so many iterations: times add up, logarithms stay.
RunForecast times(RunForecast forecast, double iterations) {
  forecast.iteration *= iterations;
  if (forecast.deviations) {
    forecast.deviations->own *= iterations;
    for (Seconds& shift : forecast.deviations->shared) shift *= iterations;
  }
  if (forecast.spread) {
    SoftwareSpread& spread = *forecast.spread;
    for (double* seconds : {&spread.forecast, &spread.physics, &spread.compute, &spread.own})
      *seconds *= iterations;
    for (SpreadTerm& term : spread.terms) {
      term.seconds *= iterations;
      term.beyond *= iterations;
    }
    spread.saves_nothing = spread.saves_nothing && iterations >= 1;
  }
  return forecast;
}

/// Whether it surely pays (above 0), surely does not (below 0), or neither (0). nullopt where the
/// forecasts do not say how far they are off.
std::optional<int> surely(const RunForecast& its, const RunForecast& dense, double iterations) {
  const RunForecast all = times(its, iterations);
  const std::optional<double> ahead = advantage(all, dense);
  const std::optional<double> lack = lack_of_difference(all, dense);
  if (!ahead || !lack) return std::nullopt;
  if (*lack > 0) return 0;
  return *ahead > 0 ? 1 : -1;
}

class Duellists {
 public:
  Duellists(Forecasts& forecasts, const Question& question)
      : forecasts_(forecasts), question_(question) {}

  std::optional<double> ahead(double value, double iterations) const {
    return advantage(times(its(value), iterations), dense(value));
  }

  /// A number above 0 where both may be faster, with any number of iterations in the interval.
  std::optional<double> unsure(double value, const RatioInterval& iterations) const {
    const auto at_best = surely(its(value), dense(value), iterations.low);
    const auto at_worst = surely(its(value), dense(value), iterations.high);
    if (!at_best || !at_worst) return std::nullopt;
    return *at_worst > 0 || *at_best < 0 ? -1.0 : 1.0;
  }

  std::string problem(double value) const {
    return its(value).answered() ? dense(value).problem : its(value).problem;
  }

 private:
  RunForecast its(double value) const { return forecasts_.at(question_.its, value); }
  RunForecast dense(double value) const { return forecasts_.at(question_.other, value); }

  Forecasts& forecasts_;
  const Question& question_;
};

AccuracyBreakEven search_for(const Question& question, const MoreIterations& more, bool fitted,
                             Forecasts& forecasts) {
  const Duellists duel(forecasts, question);
  AccuracyBreakEven found;
  found.fitted = fitted;
  found.range = question.range;
  const Course course =
      course_of(question.range, [&](double value) { return duel.ahead(value, more.typical); });
  found.pays_at_start = course.at_start;
  for (const double end : {question.range.from, question.range.to})
    if (found.problem.empty()) found.problem = duel.problem(end);
  for (const Crossing& crossing : course.crossings) {
    AccuracyRoot root{std::sqrt(crossing.below * crossing.above), crossing.becomes, {}};
    if (fitted && more.interval)
      root.interval = stretch_about(root.at, question.range, [&](double value) {
        return duel.unsure(value, *more.interval);
      });
    found.roots.push_back(root);
  }
  return found;
}

/// nullopt where the trainings do not tell.
std::optional<MoreIterations> more_iterations(const TrainedSetup& its, const TrainedSetup& dense,
                                              double target) {
  const IterationsNeeded needed = iterations_needed(its, target);
  const IterationsNeeded of_dense = iterations_needed(dense, target);
  if (!needed.complete() || !of_dense.complete()) return std::nullopt;
  return MoreIterations{*needed.median / *of_dense.median, ratio_interval(needed, of_dense)};
}

}  // namespace

std::vector<AccuracyBreakEven> accuracy_break_evens(const TtaAsked& asked,
                                                    const TrainedSetups& setups,
                                                    const std::vector<TimedSetup>& timed,
                                                    const std::vector<double>& targets,
                                                    const Engine& engine, DataFiles& files) {
  const BreakEvenAsked contest = contest_of(asked, setups);
  Forecasts forecasts(*asked.over, engine, files);
  // A factor on kernel costs changes the compressor's run only, not dense's.
  const bool dense_varies = *asked.over != Quantity::KernelCost;
  const auto runs_of = [](const TimedSetup& setup, bool fitted) {
    return fitted ? setup.contestant.fitted() : setup.contestant.physics();
  };
  std::vector<Question> questions;
  for (const bool fitted : {false, true}) {
    if (fitted && !timed.front().fitted) continue;
    const std::size_t dense = forecasts.add(runs_of(timed.front(), fitted), dense_varies);
    for (std::size_t i = 1; i < timed.size(); ++i) {
      const std::size_t its = forecasts.add(runs_of(timed[i], fitted), true);
      const Scenario& scenario = forecasts.choices(its).scenario();
      require_settable(scenario, *asked.over);
      questions.push_back({its, dense, range_of(contest, {&scenario})});
    }
  }
  Searching searching;
  searching.jobs = asked.jobs;
  answers_to(questions, forecasts, searching);  // makes the forecasts, all by one method

  std::vector<AccuracyBreakEven> all;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const std::size_t setup = 1 + i % (timed.size() - 1);
    const bool fitted = i >= timed.size() - 1;
    const auto add = [&](const MoreIterations& more, std::optional<double> target) {
      all.push_back(search_for(questions[i], more, fitted, forecasts));
      all.back().setup = setup;
      all.back().target = target;
    };
    add({}, std::nullopt);
    for (const double target : targets)
      if (const auto more = more_iterations(setups.all[setup], setups.all.front(), target))
        add(*more, target);
  }
  return all;
}

}  // namespace gradcast
