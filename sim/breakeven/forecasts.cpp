#include "sim/breakeven/forecasts.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "sim/base/text.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/forecast/training.hpp"
#include "sim/forecast/workers.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {

const Scenario& Probe::scenario() {
  if (!scenario_) {
    scenario_ = make_scenario(asked_, *files_);
    // Nothing here asks how wide physics alone is, and to work it out takes most of a forecast.
    scenario_->population = nullptr;
  }
  return *scenario_;
}

Scenario Probe::with(const std::vector<std::pair<Quantity, double>>& values) {
  Scenario changed = scenario();
  for (const auto& [quantity, value] : values) {
    // Events name nodes, and the reader of the file checks that those exist.
    if (quantity == Quantity::Nodes && !asked_.request.events.empty()) {
      Asked asked = asked_;
      asked.request.changed.push_back({"nodes", number_to_text(value)});
      changed = make_scenario(asked, *files_);
    }
  }
  for (const auto& [quantity, value] : values) set_value(changed, quantity, value);
  // On so many nodes ranks may share one copy, between whose parts nothing is compressed.
  require_compressible(asked_.request, changed);
  // A term of the stack may come or go along the range: the forecast is that of `simulate` there.
  apply_stack(changed);
  return changed;
}

RunForecast Probe::at(const std::vector<std::pair<Quantity, double>>& values,
                      const Engine& engine) {
  const Evaluation evaluation =
      answer_or_problem(*files_, [&] { return evaluate(with(values), engine); });
  if (evaluation.problem.empty()) return forecast_of(evaluation);
  RunForecast none;
  none.problem = evaluation.problem;
  return none;
}

Choices::Choices(const std::vector<Asked>& by_schedule, DataFiles& files)
    : dense_(by_schedule.front().request.compressor == "dense") {
  for (const Asked& asked : by_schedule) {
    probes_.emplace_back(asked, files);
    schedules_.push_back(to_text(schedule_of(asked.request)));
  }
}

void Choices::prepare() {
  for (Probe& probe : probes_) probe.scenario();
}

/// Whether one beats the other by a factor, both answered.
bool Choices::better(const RunForecast& one, const RunForecast& other, double slack) const {
  const Seconds its = one.iteration * slack;
  if (dense_) return its < other.iteration;
  return better_choice(its, one.outside_seen, other.iteration, other.outside_seen);
}

/// All where the closed form says nothing. The engines lie apart by less than kSlack.
std::vector<std::size_t> Choices::worth_simulating(
    const std::vector<std::pair<Quantity, double>>& values, const Engine& engine) {
  constexpr double kSlack = 1.1;
  std::vector<std::size_t> all(probes_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Engine* closed_form = find_engine("analytic");
  if (!several() || &engine == closed_form) return all;
  std::vector<RunForecast> quick;
  for (Probe& probe : probes_) quick.push_back(probe.at(values, *closed_form));
  std::size_t best = 0;
  for (std::size_t i = 0; i < quick.size(); ++i) {
    if (!quick[i].answered()) return all;
    if (better(quick[i], quick[best], 1)) best = i;
  }
  std::erase_if(all, [&](std::size_t i) { return better(quick[best], quick[i], kSlack); });
  return all;
}

RunForecast Choices::at(const std::vector<std::pair<Quantity, double>>& values,
                        const Engine& engine) {
  RunForecast best;
  std::string flows;  // the engine of a choice that is simulated as flows
  bool first = true;
  for (const std::size_t i : worth_simulating(values, engine)) {
    RunForecast forecast = probes_[i].at(values, engine);
    forecast.schedule = schedules_[i];
    if (is_fluid(forecast.engine)) flows = forecast.engine;
    if (first || forecast.answered() > best.answered() ||
        (forecast.answered() && better(forecast, best, 1)))
      best = forecast;
    first = false;
  }
  // One grain for all choices: see answers_to, which drops such forecasts.
  if (!flows.empty() && best.answered()) best.engine = flows;
  return best;
}

std::size_t Forecasts::add(const std::vector<Asked>& by_schedule, bool varies) {
  runs_.push_back({Choices(by_schedule, files_), varies});
  return runs_.size() - 1;
}

Forecasts::Key Forecasts::key_of(std::size_t run, double value) const {
  return {run, runs_[run].varies ? value : 0};
}

bool Forecasts::knows(std::size_t run, double value) const {
  return known_.count(key_of(run, value)) > 0;
}

const RunForecast& Forecasts::at(std::size_t run, double value) {
  const Key key = key_of(run, value);
  {
    const std::lock_guard held(lock_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
  }
  std::vector<std::pair<Quantity, double>> values;
  if (runs_[run].varies) values.emplace_back(over_, value);
  RunForecast forecast = runs_[run].choices.at(values, *engine_);
  const std::lock_guard held(lock_);
  const auto [known, is_new] = known_.try_emplace(key, std::move(forecast));
  if (is_new) news_.push_back(key);  // else another thread was as fast, with the same forecast
  return known->second;
}

void Forecasts::use(const Engine& engine) {
  engine_ = &engine;
  std::erase_if(known_, [&](const auto& entry) {
    return entry.second.engine != engine.name || runs_[entry.first.first].choices.several();
  });
  news_.clear();
}

std::string Forecasts::news() {
  std::string keys;
  std::vector<RunForecast> forecasts;
  for (const auto& [run, value] : news_) {
    keys += std::to_string(run) + " " + number_to_text(value) + " ";
    forecasts.push_back(known_.at({run, value}));
  }
  news_.clear();
  return keys + "\n" + pack(forecasts);
}

void Forecasts::learn(const std::string& news) {
  const std::size_t line = news.find('\n');
  const std::vector<std::string> words = split_words(news.substr(0, line), ' ');
  const std::vector<RunForecast> forecasts = unpack_forecasts(news.substr(line + 1));
  for (std::size_t i = 0; i < forecasts.size(); ++i)
    known_[{static_cast<std::size_t>(parse_integer(words[2 * i])),
            parse_number(words[2 * i + 1])}] = forecasts[i];
}

namespace {

std::set<std::size_t> runs_of(const std::vector<Question>& questions) {
  std::set<std::size_t> runs;
  for (const Question& question : questions) runs.insert({question.its, question.other});
  return runs;
}

/// The engine for all runs, exact or fluid, where the asked one chooses between two. The end of the
/// range decides, because it has most messages.
const Engine& one_grain(const std::vector<Question>& questions, Forecasts& forecasts) {
  std::string used;
  for (const Question& question : questions)
    for (const std::size_t run : {question.its, question.other})
      if (const std::string engine = forecasts.at(run, question.range.to).engine;
          used.empty() || is_fluid(engine))
        used = engine;
  return used.empty() ? forecasts.engine() : *find_engine(used);
}

using Points = std::vector<std::pair<std::size_t, double>>;

/// The forecasts that the questions need and that nobody has made yet, each once.
template <class ValuesOf>
Points unknown_points(const std::vector<Question>& questions, const Forecasts& forecasts,
                      ValuesOf values_of) {
  std::set<std::pair<std::size_t, double>> wanted;
  for (const Question& question : questions)
    for (const double value : values_of(question.range))
      for (const std::size_t run : {question.its, question.other})
        if (!forecasts.knows(run, value)) wanted.emplace(run, value);
  return {wanted.begin(), wanted.end()};
}

Finding answer_to(const Question& question, Forecasts& forecasts) {
  return find_break_evens(question.range, [&](double value) {
    return Duel{forecasts.at(question.its, value), forecasts.at(question.other, value)};
  });
}

}  // namespace

std::vector<Finding> answers_to(const std::vector<Question>& questions, Forecasts& forecasts,
                                const Searching& searching) {
  bool platform = false;
  for (const std::size_t run : runs_of(questions)) {
    forecasts.choices(run).prepare();
    platform = platform || !forecasts.choices(run).scenario().cluster.platform_file.empty();
  }
  const auto pool = [&](std::size_t items, const std::function<void(std::size_t)>& ask,
                        const std::function<void()>& after) {
    std::vector<std::size_t> numbers(items);
    for (std::size_t i = 0; i < items; ++i) numbers[i] = i;
    forecasts.news();  // the children know what this process knows
    const Workers workers = workers_for(forecasts.engine(), platform);
    const bool apart = workers == Workers::Processes;
    run_forecasts(workers, searching.jobs, numbers,
                  {[&](std::size_t item) {
                     ask(item);
                     return apart ? forecasts.news() : std::string();
                   },
                   [&](std::size_t, const std::string& news) {
                     if (apart) forecasts.learn(news);
                     after();
                   }});
  };
  const auto forecast_all = [&](const Points& points, const std::function<void()>& after) {
    pool(
        points.size(),
        [&](std::size_t item) { forecasts.at(points[item].first, points[item].second); }, after);
  };

  if (!forecasts.engine().fluid.empty()) {
    const auto end_of = [](const LookedAt& range) { return std::vector<double>{range.to}; };
    forecast_all(unknown_points(questions, forecasts, end_of), [] {});
    forecasts.use(one_grain(questions, forecasts));
  }

  // First all grids, which searches share; then each search by itself.
  const Points points = unknown_points(questions, forecasts, grid_of);
  const std::size_t all = points.size() + questions.size();
  std::size_t done = 0;
  const auto count = [&] { searching.progress(++done, all); };
  forecast_all(points, count);
  pool(
      questions.size(), [&](std::size_t item) { answer_to(questions[item], forecasts); }, count);
  std::vector<Finding> findings;
  for (const Question& question : questions) findings.push_back(answer_to(question, forecasts));
  return findings;
}

}  // namespace gradcast
