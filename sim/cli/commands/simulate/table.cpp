#include "sim/cli/commands/simulate/table.hpp"

#include <algorithm>

#include "sim/base/table.hpp"
#include "sim/base/time_unit.hpp"
#include "sim/base/units.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/engine/replicas.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/plan/plan_summary.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast::commands {
namespace {

/// The unit of times: microseconds for a collective alone.
TimeUnit unit_of(const IterationResult& result, const Json& settings) {
  return settings.at("model") == "" ? TimeUnit{"us", 1e6, 1} : unit_for(result.iteration);
}

/// The software that the interval stands for; "" if a stack or a fitted cluster says it.
std::string interval_is_of(const IterationForecast& forecast, const Json& settings) {
  if (!forecast.interval || settings.at("stack") != "") return "";
  const bool fitted =
      settings.at("forecast_deviation") != "0s" || settings.at("forecast_deviation_share") != "0%";
  return fitted ? ""
                : "for any software that sends by " + std::string(forecast.sends_by) +
                      "; name yours with --stack to narrow it";
}

/// Words on costs that nobody measured on this GPU; "" for measured ones.
std::string scaled_costs(const Json& settings, const Plan& plan) {
  if (!settings.contains("costs_scaled_to")) return "";
  const std::string words =
      scaled_costs_words(settings.at("costs"), settings.at("costs_scaled_to"));
  const CostFactors factors = cost_factors_of(plan);
  if (words.empty() || !factors.said()) return words;
  return words + "; thought to be " + fixed(factors.low, 2) + " to " + fixed(factors.high, 2) +
         " times as long (90 %)";
}

/// `add` takes a line of the table: its name and its value.
template <class Add>
void add_counts(const CountsUsed& used, const TimeUnit& unit, const Add& add) {
  const auto percent = [](double share) { return fixed(100 * share, 1) + " %"; };
  const auto seconds = [&](const std::optional<Seconds>& time) {
    return time ? unit.text(*time) : "never ends";
  };
  add("sent of k (" + used.file + ")", percent(used.share.mean) + " in the mean of " +
                                           std::to_string(used.share.iterations) + " iterations");
  add("  if it were " + percent(used.share.p10) + " to " + percent(used.share.p90) +
          " (8 of 10 iterations)",
      seconds(used.at_p10) + " to " + seconds(used.at_p90));
  add("  if it were near k", seconds(used.of_k));
}

std::string headline(const IterationForecast& forecast, const Plan& plan, const Json& settings,
                     const NoiseChoice& noise) {
  const IterationResult& result = forecast.result;
  TextTable table{{"forecast", ""}, {}};
  const auto add = [&](const std::string& name, const std::string& value) {
    table.rows.push_back({name, value});
  };
  const TimeUnit unit = unit_of(result, settings);
  if (forecast.lost()) {
    add("the run never ends", result.lost);
    return to_text(table);
  }
  add(noise.replicas > 1 ? "iteration (mean)" : "iteration", unit.text(result.iteration));
  add("assumed", settings.at("assumed").get<std::string>());
  if (noise.replicas > 1) {
    const Spread& spread = forecast.spread;
    add("95 % interval of the mean", unit.number(spread.low) + " to " + unit.text(spread.high));
    add("5 %, 50 %, 95 % of the runs",
        unit.number(spread.p05) + ", " + unit.number(spread.median) + ", " + unit.text(spread.p95));
    if (spread.lost > 0)
      add("runs that never ended",
          std::to_string(spread.lost) + " of " + std::to_string(spread.replicas));
  }
  if (forecast.samples_per_second)
    add("samples per second", fixed(*forecast.samples_per_second, 1));
  if (forecast.scaling_efficiency)
    add("scaling efficiency",
        fixed(100 * *forecast.scaling_efficiency, 1) + " %" +
            (*forecast.scaling_efficiency <= 1
                 ? (plan.ranks() == 1 ? " (beside one GPU's own time: there is one GPU)" : "")
             : plan.kind_factor < 1
                 ? " (the measured runs that the stack was learned from were as fast)"
                 : " (one GPU alone updates all parameters, here each updates its part only)"));
  if (forecast.speedup_over_dense) {
    const auto speedup = forecast.verdict ? forecast.verdict->speedup : std::nullopt;
    add("speedup over dense",
        fixed(*forecast.speedup_over_dense, 2) +
            (speedup ? " (90 %: " + fixed(speedup->low, 2) + " to " + fixed(speedup->high, 2) + ")"
                     : ""));
    if (forecast.verdict) add("over dense, same schedule", words_of(*forecast.verdict));
  }
  add("90 % interval", forecast.interval ? unit.number(forecast.interval->low) + " to " +
                                               unit.text(forecast.interval->high)
                                         : "none: the data folder has no stack-population");
  if (const std::string whose = interval_is_of(forecast, settings); !whose.empty()) {
    add("", whose);
    if (const auto& by_mpi = forecast.interval_by_mpi;
        by_mpi && by_mpi->high > forecast.interval->high)
      add("", "by MPI through the host: up to " + unit.text(by_mpi->high));
  }
  if (forecast.physics != result.iteration) add("by physics alone", unit.text(forecast.physics));
  if (forecast.counts) add_counts(*forecast.counts, unit, add);
  for (const TermUse& use : forecast.outside_seen)
    add("? not seen like this", use.term->name() + ": " + use.outside + "; left at physics");
  if (const std::string beyond = outside_of(plan); !beyond.empty())
    add("? beyond the cost table", beyond);
  if (forecast.measured)
    add("measured (" + forecast.measured->source + ")",
        unit.text(forecast.measured->iteration) + ", error " +
            with_sign(forecast.error_percent(), 1) + " %");
  if (const std::string doubts = least_sure(forecast, plan); !doubts.empty())
    add("least sure of", doubts);
  if (const std::string costs = scaled_costs(settings, plan); !costs.empty()) add("costs", costs);
  return to_text(table);
}

}  // namespace

std::string as_table(const Json& settings, const IterationForecast& forecast, const Plan& plan,
                     const NoiseChoice& noise) {
  const IterationResult& result = forecast.result;
  const TimeUnit unit = unit_of(result, settings);
  TextTable parts{
      {"where the time goes", unit.seconds() ? "seconds" : std::string(unit.name), "share %"}, {}};
  const auto add = [&](const std::string& name, Seconds part) {
    const bool some = result.iteration > Seconds{0};
    parts.rows.push_back(
        {name, unit.number(part), some ? fixed(100 * (part / result.iteration), 1) : "-"});
  };
  for (auto [name, part] : parts_of(result)) {
    std::replace(name.begin(), name.end(), '_', ' ');
    add(name, part);
  }
  add("= iteration", result.iteration);
  parts.rows.push_back({});
  add("communication, hidden or not", result.communication);
  if (result.hidden_codec > Seconds{0}) add("encode and decode, hidden", result.hidden_codec);
  TextTable memory{{"memory of a GPU", "GB"}, {}};
  const auto gigabytes = [](Bytes bytes) {
    return fixed(static_cast<double>(bytes.count) / 1e9, 3);
  };
  for (const MemoryPart& part : memory_parts())
    if (const Bytes bytes = forecast.memory.*part.part; bytes.count > 0)
      memory.rows.push_back({std::string(part.name), gigabytes(bytes)});
  const bool known = forecast.memory.activations_known;
  memory.rows.push_back({known ? "= together" : "= together, without activations",
                         gigabytes(forecast.memory.total())});
  TextTable inputs{{"input", "value"}, {}};
  for (const auto& [name, value] : settings.items())
    inputs.rows.push_back({name, value_to_text(value)});
  return headline(forecast, plan, settings, noise) + "\n" +
         (forecast.lost() ? "" : to_text(parts) + "\n") +
         (forecast.memory.total().count > 0 ? to_text(memory) + "\n" : "") + to_text(inputs);
}

}  // namespace gradcast::commands
