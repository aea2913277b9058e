#include "sim/decide/decision.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/progress.hpp"
#include "sim/base/thread_pool.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/link_doubt.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/forecast/workers.hpp"
#include "sim/inputs/compressor_file.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast {
namespace {

/// True unless the option is a compressor whose software nobody measured.
bool costs_known(const Scenario& scenario, const Request& request) {
  if (!scenario.compresses()) return true;
  const auto& stack = scenario.stack != nullptr ? scenario.stack : scenario.population;
  if (stack == nullptr) return is_fitted(request.costs);
  return costs_fitted(*stack, scenario);
}

struct OptionAnswer {
  std::optional<Scenario> scenario{};
  bool costs_known = true;
  Evaluation forecast{};
};

/// The scenario, or why there is none. Reads files.
OptionAnswer scenario_for(const Option& option, DataFiles& files) {
  OptionAnswer answer;
  answer.forecast = answer_or_problem(files, [&] {
    const Request request = with_defaults(option.request, files);
    answer.scenario = make_scenario(request, files);
    answer.costs_known = costs_known(*answer.scenario, request);
    return Evaluation();
  });
  return answer;
}

/// Forecasts all that have a scenario.
void forecast_all(const std::vector<Option>& options, std::vector<OptionAnswer>& answers,
                  const Engine& engine, const DecideAsked& asked, const DataFiles& files) {
  std::vector<std::size_t> to_do;
  bool platform_files = false;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].scenario) continue;
    to_do.push_back(i);
    platform_files = platform_files || !answers[i].scenario->cluster.platform_file.empty();
  }
  // Processes would have to send back whole evaluations: SimGrid works in this one.
  const bool threads = workers_for(engine, platform_files) == Workers::Threads;
  const auto forecast = [&](std::size_t i) {
    answers[i].forecast =
        answer_or_problem(files, [&] { return evaluate(*answers[i].scenario, engine); });
    return std::string();
  };
  Progress progress(std::vector<double>(to_do.size(), 1), asked.quiet);
  std::size_t done = 0;
  const auto take = [&](std::size_t i, const std::string&) {
    if (++done < to_do.size()) progress.show(done, options[i].name);
  };
  run_in_threads(threads ? asked.jobs : 1, to_do, {forecast, take});
}

void find_gpu_memory(Decision& decision, const DecideAsked& asked, const DataFiles& files) {
  if (asked.gpu_memory) {
    decision.gpu_memory = asked.gpu_memory;
    return;
  }
  DataFiles others = files.beside();
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  const Device& device = gpu_of(decision.now.cluster, *devices);
  if (device.memory.count == 0) return;
  decision.gpu = device.name;
  decision.gpu_memory = device.memory;
}

/// A run that goes on today fits. Where nobody says its batch and the trace's does not fit: the
/// largest power of two that does, which leaves room for what is tried. Not given: the trace's
/// fits, or that is not known, or no batch does.
std::optional<int> batch_that_fits(const Decision& decision) {
  if (!decision.usable) return std::nullopt;
  const MemoryUse& memory = decision.memory;
  if (!memory.activations_known || memory.total() <= *decision.usable) return std::nullopt;
  const std::optional<int> batch = largest_batch(decision.now, memory, *decision.usable);
  if (!batch || *batch == 0) return std::nullopt;
  const int steps = decision.now.accumulation;  // each has its share of the batch
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(*batch / steps))) * steps;
}

/// The largest batches, but today's own and one that another option has already.
void add_fitting(std::vector<Option>& options, const Decision& decision) {
  for (const FittingBatch& way : decision.fitting) {
    if (way.batch == decision.now.batch()) continue;  // the option without a batch says it
    if (std::none_of(options.begin(), options.end(),
                     [&](const Option& other) { return other.flags == way.option.flags; }))
      options.push_back(way.option);
  }
}

}  // namespace

bool exceeds_memory(const Decision& decision, Bytes memory) {
  return decision.usable && memory > *decision.usable;
}

std::string_view to_text(Bound bound) {
  switch (bound) {
    case Bound::Compute:
      return "compute";
    case Bound::Communication:
      return "communication";
    case Bound::Software:
      return "software";
    case Bound::Memory:
      break;
  }
  return "memory";
}

Shares shares_of(const Evaluation& forecast) {
  const Seconds iteration = forecast.result.iteration;
  Shares shares;
  shares.communication = forecast.result.exposed_communication / iteration;
  shares.compute = std::min(forecast.compute / iteration, 1 - shares.communication);
  shares.software = std::max(0.0, 1 - shares.compute - shares.communication);
  return shares;
}

Bound bound_of(const Decision& decision) {
  if (decision.usable && decision.memory.total() > *decision.usable) return Bound::Memory;
  const Shares shares = shares_of(decision.forecast);
  if (shares.compute >= std::max(shares.communication, shares.software)) return Bound::Compute;
  return shares.communication >= shares.software ? Bound::Communication : Bound::Software;
}

WeighedOption weigh(Option option, const Evaluation& forecast, const Evaluation& today,
                    bool costs_known) {
  WeighedOption weighed{std::move(option), forecast};
  const double work = static_cast<double>(forecast.ranks) * forecast.batch /
                      (static_cast<double>(today.ranks) * today.batch);
  const Seconds its = forecast.result.iteration;
  const Seconds todays = today.result.iteration;
  weighed.speedup = work * (todays / its);
  weighed.gpu_time_ratio = static_cast<double>(forecast.ranks) / today.ranks / weighed.speedup;
  weighed.interval = speedup_interval(its, forecast.doubt, todays, today.doubt);
  if (weighed.interval) {
    weighed.interval->low *= work;
    weighed.interval->high *= work;
    // Hosts reach no less of a faster network, however little is known of what they reach. One
    // that is forecast slower makes NCCL choose worse, and has no lower end.
    if (weighed.option.change == Change::Network)
      weighed.interval->low = std::max(weighed.interval->low, std::min(1.0, weighed.speedup));
  }
  Verdict& verdict = weighed.verdict;
  verdict.speedup = weighed.interval;
  const double worth =
      weighed.option.change == Change::Network ? kWorthBuyingSpeedup : kWorthwhileSpeedup;
  verdict.pays = pays_by(weighed.interval, forecast.doubt, today.doubt, costs_known, worth);
  if (verdict.pays == Pays::CannotBeTold) {
    const bool compressor = weighed.option.change == Change::Compressor;
    const std::string name = compressor ? weighed.option.request.compressor : "this change";
    verdict.measure = guessed_measure(forecast.doubt, today.doubt);
    if (verdict.measure.empty())
      verdict.measure =
          costs_known ? measure_first(name, {its / work, forecast.doubt}, {todays, today.doubt})
                      : "one run with " + name + " on this cluster";
  }
  return weighed;
}

void rank(std::vector<WeighedOption>& options) {
  std::stable_sort(options.begin(), options.end(),
                   [](const WeighedOption& one, const WeighedOption& other) {
                     return one.speedup > other.speedup;
                   });
}

double epoch_hours(const Evaluation& forecast, double samples) {
  return samples / forecast.samples_per_second() * forecast.ranks / 3600;
}

double epoch_cost(const Evaluation& forecast, double samples, double price) {
  return price * epoch_hours(forecast, samples);
}

Decision decide(const DecideAsked& asked, const Engine& engine, DataFiles& files) {
  Decision decision;
  Request raw = asked.request;
  decision.request = with_defaults(dense_request(raw), files);
  if (raw.best_schedule) {
    const Schedule best = schedule_of(fastest(decision.request, engine, files));
    raw = with_schedule(raw, best);
    decision.request = with_schedule(decision.request, best);
  }
  const auto plan_today = [&] {
    decision.now = make_scenario(decision.request, files);
    decision.memory = memory_of(decision.now, make_plan(decision.now));
  };
  plan_today();
  find_gpu_memory(decision, asked, files);
  if (decision.gpu_memory) decision.usable = usable_memory(*decision.gpu_memory);
  const std::optional<int> fitting = raw.batch ? std::nullopt : batch_that_fits(decision);
  std::string why;
  if (fitting) {
    why = "; batch " + std::to_string(*fitting) +
          ": the largest power of two that fits, because the trace's " +
          std::to_string(decision.now.batch()) + " does not";
    raw.batch = decision.request.batch = fitting;
    plan_today();
  }
  decision.forecast = evaluate(decision.now, engine);
  if (!decision.forecast.problem.empty()) throw ValueError(decision.forecast.problem);
  const std::optional<SoftwareSpread>& spread = decision.forecast.doubt.spread;
  decision.assumed = assumed_words(decision.request, decision.now) +
                     (spread ? link_words(decision.now, *spread) : "") + why;
  if (decision.usable)
    decision.fitting = fitting_batches(dense_request(raw), decision.now, *decision.usable, files);

  std::vector<std::string> compressors = asked.compressors;
  if (compressors == std::vector<std::string>{"all"})
    compressors = compressors_with_costs(decision.request, files);
  std::vector<Option> options = options_of(raw, decision.request, decision.now, compressors, files);
  add_fitting(options, decision);
  // Files are read in the order of the options, so that the answer lists them in that order.
  std::vector<OptionAnswer> answers;
  for (const Option& option : options)
    answers.push_back(option.refused.empty() ? scenario_for(option, files) : OptionAnswer());
  forecast_all(options, answers, engine, asked, files);
  for (std::size_t i = 0; i < options.size(); ++i) {
    Option option = options[i];
    if (option.refused.empty()) option.refused = answers[i].forecast.problem;
    if (option.refused.empty())
      decision.ranked.push_back(
          weigh(std::move(option), answers[i].forecast, decision.forecast, answers[i].costs_known));
    else
      decision.refused.push_back(std::move(option));
  }
  // A described compressor has costs of its own.
  for (const WeighedOption& each : decision.ranked) {
    const Compressor* const its = find_compressor(each.option.request.compressor);
    if (each.option.change != Change::Compressor || its == nullptr || described(*its) != nullptr)
      continue;
    decision.assumed += compressing_words(with_defaults(each.option.request, files));
    break;
  }
  rank(decision.ranked);
  // Options that fit come first where today's run does not: they can be made, and measured.
  if (exceeds_memory(decision, decision.memory.total())) {
    for (WeighedOption& each : decision.ranked)
      if (each.verdict.measure == run_with("dense")) each.verdict.measure = run_with("this change");
    std::stable_partition(
        decision.ranked.begin(), decision.ranked.end(),
        [&](const WeighedOption& each) { return !exceeds_memory(decision, each.forecast.memory); });
  }
  return decision;
}

}  // namespace gradcast
