// Results of `gradcast simulate`: one iteration, and the runs that it is compared with.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cli/commands/simulate/counts.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/engine/replicas.hpp"
#include "sim/forecast/sensitivity.hpp"
#include "sim/forecast/uncertainty.hpp"
#include "sim/forecast/verdict.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast::commands {

struct IterationForecast {
  IterationResult result;
  Spread spread;
  // Not of a collective alone, nor of a run that never ended:
  std::optional<double> samples_per_second{};
  std::optional<double> scaling_efficiency{};
  std::optional<double> speedup_over_dense{};
  /// The verdict on the compressor, against dense by the same schedule. None by physics alone.
  std::optional<Verdict> verdict{};
  std::optional<MeasuredRun> measured{};  // the run that this is a forecast of, where there is one
  std::optional<LatencySensitivity> latency{};
  std::optional<ForecastInterval> interval{};
  ForecastDoubt doubt{};        // from which the interval is made
  std::string_view sends_by{};  // what the interval assumes of software where no stack is named
  /// The interval if the software sends by MPI through the host. Only where no stack is named.
  std::optional<ForecastInterval> interval_by_mpi{};
  std::optional<CountsUsed> counts{};   // with --counts
  MemoryUse memory{};                   // per GPU
  Seconds physics{0};                   // the iteration without the software of a stack
  std::vector<TermUse> outside_seen{};  // terms of the stack that are left at physics

  bool lost() const { return !result.lost.empty(); }
  double error_percent() const {
    return 100 * ((result.iteration - measured->iteration) / measured->iteration);
  }
};

/// All but `measured` and `counts`. `plan` is the scenario's.
IterationForecast make_forecast(const Scenario& scenario, const Plan& plan, const Engine& engine,
                                const NoiseChoice& noise);

/// The parts that add up to the iteration, in the order of the design.
std::vector<std::pair<std::string, Seconds>> parts_of(const IterationResult& result);

/// The most uncertain inputs of the forecast, in words; "" if there are none.
std::string least_sure(const IterationForecast& forecast, const Plan& plan);

}  // namespace gradcast::commands
