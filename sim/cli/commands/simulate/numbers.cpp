#include "sim/cli/commands/simulate/numbers.hpp"

#include <optional>

#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/engine/replicas.hpp"
#include "sim/forecast/sensitivity.hpp"
#include "sim/forecast/uncertainty.hpp"
#include "sim/plan/plan_summary.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast::commands {
Json numbers_of(const IterationForecast& forecast, const Plan& plan, const NoiseChoice& noise) {
  const bool lost = forecast.lost();
  const auto seconds = [&](Seconds time) { return lost ? Json() : Json(time.count()); };
  Json numbers;
  numbers["iteration_seconds"] = seconds(forecast.result.iteration);
  for (const auto& [name, part] : parts_of(forecast.result)) {
    if (name == "exposed_communication")
      numbers["communication_seconds"] = seconds(forecast.result.communication);
    numbers[name + "_seconds"] = seconds(part);
  }
  numbers["hidden_codec_seconds"] = seconds(forecast.result.hidden_codec);
  numbers["samples_per_second"] = or_null(forecast.samples_per_second);
  numbers["scaling_efficiency"] = or_null(forecast.scaling_efficiency);
  numbers["speedup_over_dense"] = or_null(forecast.speedup_over_dense);
  const auto& verdict = forecast.verdict;
  const RatioInterval* speedup = verdict && verdict->speedup ? &*verdict->speedup : nullptr;
  numbers["verdict"] = verdict ? Json(to_text(verdict->pays)) : Json();
  numbers["measure"] = verdict ? verdict->measure : "";
  numbers["speedup_low"] = speedup ? Json(speedup->low) : Json();
  numbers["speedup_high"] = speedup ? Json(speedup->high) : Json();
  const bool measured = forecast.measured.has_value() && !lost;
  numbers["measured_seconds"] = measured ? Json(forecast.measured->iteration.count()) : Json();
  numbers["error_percent"] = measured ? Json(forecast.error_percent()) : Json();
  numbers["measured_source"] = measured ? Json(forecast.measured->source) : Json();
  const auto latency = [&](Seconds LatencySensitivity::*which) {
    return forecast.latency ? Json(((*forecast.latency).*which).count()) : Json();
  };
  numbers["half_latency_seconds"] = latency(&LatencySensitivity::half);
  numbers["twice_latency_seconds"] = latency(&LatencySensitivity::twice);
  numbers["least_sure_of"] = least_sure(forecast, plan);
  numbers["physics_seconds"] = seconds(forecast.physics);
  std::vector<std::string> outside;
  for (const TermUse& use : forecast.outside_seen) outside.push_back(use.term->name());
  numbers["outside_seen"] = join(outside);
  numbers["outside"] = outside_of(plan);
  const auto end = [&](Seconds ForecastInterval::*which) {
    return forecast.interval ? Json(((*forecast.interval).*which).count()) : Json();
  };
  numbers["interval_low_seconds"] = end(&ForecastInterval::low);
  numbers["interval_high_seconds"] = end(&ForecastInterval::high);
  numbers["interval_high_by_mpi_seconds"] =
      forecast.interval_by_mpi ? Json(forecast.interval_by_mpi->high.count()) : Json();
  if (noise.asked()) {
    const Spread& spread = forecast.spread;
    numbers["mean_low_seconds"] = seconds(spread.low);
    numbers["mean_high_seconds"] = seconds(spread.high);
    numbers["p05_seconds"] = seconds(spread.p05);
    numbers["median_seconds"] = seconds(spread.median);
    numbers["p95_seconds"] = seconds(spread.p95);
    numbers["lost_replicas"] = spread.lost;
  }
  numbers["lost"] = forecast.result.lost;
  numbers["engine"] = forecast.result.engine;
  numbers["flows_simulated"] = forecast.result.flows_simulated;
  numbers["memory_bytes"] = forecast.memory.total().count;
  for (const MemoryPart& part : memory_parts())
    numbers[std::string(part.name) + "_memory_bytes"] = (forecast.memory.*part.part).count;
  if (!forecast.memory.activations_known) numbers["activations_memory_bytes"] = nullptr;
  return numbers;
}

}  // namespace gradcast::commands
