// Compares forecasts with measurements, row by row: errors, and the time that stays unexplained.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/request.hpp"
#include "sim/forecast/speedup_interval.hpp"
#include "sim/inputs/measured.hpp"

namespace gradcast {

struct ComparedRun {
  MeasuredRun run;  // with the values that the row leaves open filled in
  IterationResult forecast;
  int ranks = 0;
  std::string asked_collective{};  // as the row names it; "" for the compressor's usual
  std::string implementation{};    // the kernels that the compressor's costs are for; "" for dense
  std::string evidence{};          // evidence for the compressor's costs; "" for dense
  std::string outside{};  // the range of the cost table that the row lies outside of; "" for none
  std::string outside_model{};  // why the row is outside the model's claim; "" if it is not
  std::string
      extrapolated{};  // the values in which the row lies beyond the fitted runs; "" for none
  std::string what_if_costs{};  // the other costs that a what-if uses; "": its own
  std::optional<Seconds>
      own_costs_forecast{};  // in a what-if: the forecast with the row's own costs
  std::string suspects{};    // possible reasons of the error; "" for none, or if not asked for
  std::optional<Seconds> low{}, high{};  // the forecast's 90 % interval, where one is known
  std::string stack{};                   // software of the forecast; "": physics alone
  Seconds physics{0};                    // the forecast without that software
  std::string outside_seen{};  // terms of the stack that were not seen under such conditions
  ForecastDoubt doubt{};       // parts of its interval, and of those of its speedups
  /// Speedup over the fastest dense run of the same set-up, if the file has one (add_speedups).
  std::optional<double> measured_speedup{};
  std::optional<double> predicted_speedup{};
  std::optional<RatioInterval> speedup_interval{};  // the forecast's, of compressed runs
  std::string dense_fusion{};  // the fusion of that dense run; "" where there is none
  bool dense_counts = false;   // whether that dense run counts, too

  Seconds predicted() const { return forecast.iteration; }
  double error_percent() const;         // (predicted - measured) / measured
  Seconds unexplained() const;          // measured - predicted
  double measured_efficiency() const;   // compute / measured
  double predicted_efficiency() const;  // compute / predicted

  /// Whether the error counts: the model claims the row, and the forecast used the row's own costs.
  bool counts() const { return outside_model.empty() && what_if_costs.empty(); }
  bool has_interval() const { return low && high; }
  bool is_compressed() const { return run.compressor != "dense"; }
  /// Whether the work of compressing was left out: how fast it could be at most.
  bool is_upper_bound() const { return is_compressed() && !run.compressing; }
  /// "yes" or "no" where the whole interval says that compressing beats dense, or that it does not;
  /// "" where it leaves that open, and where there is none.
  std::string pays_sure() const;
  /// The same in the words of every command, "cannot be told" included; "" for a dense run.
  std::string verdict() const;
};

/// Above this error, an explanation is looked for.
inline constexpr double kLargeErrorPercent = 10;

/// The row's question, by a stack that has not seen runs of its source. Throws DataError that names
/// the row.
Request unseen_request(const std::string& measured_path, const MeasuredRun& run, DataFiles& files);

/// Puts a row and its forecast side by side. `request` is the row's question; `scenario` and `plan`
/// are made from it. Throws ValueError for a run that never ended.
ComparedRun compare_run(const MeasuredRun& run, const Request& request, const Scenario& scenario,
                        const Plan& plan, IterationResult forecast);

/// The same, starting from the request: reads its files, plans and runs it. With `explain` it also
/// looks for what would explain a large error. Throws DataError that names the row's file and line.
ComparedRun compare_run(const std::string& measured_path, const MeasuredRun& run,
                        const Request& request, const Engine& engine, bool explain,
                        DataFiles& files);

/// Returns what `body` returns. An error that it throws, also about a file that the row names,
/// becomes a DataError for the row's line of the measured file.
template <class Body>
auto naming_row(const std::string& measured_path, const MeasuredRun& run, Body body) {
  try {
    return body();
  } catch (const ValueError& error) {
    throw DataError(measured_path, run.line, error.what());
  } catch (const DataError& error) {
    throw DataError(measured_path, run.line, error.what());
  }
}

}  // namespace gradcast
