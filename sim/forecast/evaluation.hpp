// One forecast as a value that can be kept, sent and compared. Sweeps and break-evens are made of
// them.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/speedup_interval.hpp"
#include "sim/forecast/uncertainty.hpp"

namespace gradcast {

struct Evaluation {
  IterationResult result;  // no times where there is a problem
  int ranks = 0;
  int batch = 0;       // images a GPU
  Seconds compute{0};  // as alone() has it
  std::string collective;
  std::string evidence;  // what the compressor's costs rest on; "" for dense
  std::string outside;   // the range of the cost table that was left; "" for none
  std::optional<ForecastInterval> interval;
  std::string problem;         // why there is no answer; "" where there is one
  ForecastDoubt doubt{};       // what the interval is made from
  bool stacked = false;        // by a stack that was named
  Bytes memory{};              // a GPU's; with activations if they are known
  std::string assumed{};       // what a request left open, as `assumed_words` has it
  std::string outside_seen{};  // terms of its stack, comma-separated: left at physics

  /// The doubt that a verdict is made from: that about a fitted cluster or about a stack that was
  /// named. Physics alone has none.
  ForecastDoubt software_doubt() const {
    return stacked ? doubt : ForecastDoubt{doubt.deviations, std::nullopt};
  }
  double samples_per_second() const {
    return static_cast<double>(ranks) * batch / result.iteration.count();
  }
  double scaling_efficiency() const { return compute / result.iteration; }
};

/// Returns what `forecast` returns. If that throws a ValueError or DataError, returns an evaluation
/// without an answer whose problem is the error's text. The path of the data folder is left out of
/// it, because answers hold none.
Evaluation answer_or_problem(const DataFiles& files, const std::function<Evaluation()>& forecast);

/// Forecasts a request. If no cluster or cost table can answer it, the evaluation holds the
/// problem. Other failures (an engine that dies, a disk) are thrown.
Evaluation evaluate(const Asked& asked, const Engine& engine, DataFiles& files);

/// Forecasts a scenario. Throws ValueError or DataError where it has no plan.
Evaluation evaluate(const Scenario& scenario, const Engine& engine);

/// Everything besides the flags of the request that decides an evaluation, as text: the engine, the
/// files that it reads, and their SHA-256. Reads those files. Throws as read_files does.
std::string content_of(const Asked& asked, const Engine& engine, DataFiles& files);

}  // namespace gradcast
