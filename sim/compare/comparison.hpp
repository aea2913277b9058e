// Forecasts held against measurements, row by row: errors, and what stays unexplained.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/measured.hpp"

namespace gradcast {

struct ComparedRun {
  MeasuredRun run;  // with what the row left open filled in
  IterationResult forecast;
  int ranks = 0;
  std::string asked_collective{};  // as the row names it; "" for the compressor's usual
  std::string implementation{};    // whose kernels the compressor's costs are of; "" for dense
  std::string evidence{};          // of the compressor's costs; "" for dense
  std::string outside{};           // which range of the cost table was left; "" for none
  std::string outside_model{};     // why the model does not claim the row; "": it does
  std::string extrapolated{};      // in what the row lies beyond what was fitted; "" for nothing
  std::string what_if_costs{};     // costs it was not measured with; "": its own
  std::optional<Seconds> own_costs_forecast{};  // of a what-if: with the row's own costs
  std::string suspects{};  // what would explain it; "" where nobody asked, or nothing would
  std::optional<Seconds> low{}, high{};  // of the forecast: its 90 % interval, where one is known
  /// Over the dense run of the same set-up, where the file has one (comparison_setups).
  std::optional<double> measured_speedup{};
  std::optional<double> predicted_speedup{};

  Seconds predicted() const { return forecast.iteration; }
  double error_percent() const;         // (predicted - measured) / measured
  Seconds unexplained() const;          // measured - predicted
  double measured_efficiency() const;   // compute / measured
  double predicted_efficiency() const;  // compute / predicted

  /// Whether its error is one: the model claims the row, and it was run with its own costs.
  bool counts() const { return outside_model.empty() && what_if_costs.empty(); }
  bool has_interval() const { return low && high; }
};

/// An error that asks for an explanation.
inline constexpr double kLargeErrorPercent = 10;

/// A row beside what was forecast for it. `request` is what was asked for the row, `scenario` and
/// `plan` what came of it. Throws ValueError for a run that never ended.
ComparedRun compare_run(const MeasuredRun& run, const Request& request, const Scenario& scenario,
                        const Plan& plan, IterationResult forecast);

/// The same from the request on: reads its files, plans and runs it; `explain`: of a large error,
/// also what would explain it. Throws DataError that names the row's file and line.
ComparedRun compare_run(const std::string& measured_path, const MeasuredRun& run,
                        const Request& request, const Engine& engine, bool explain,
                        DataFiles& files);

/// What `body` gives; what it complains of, a file that the row names included, is said of the
/// row's line of the measured file. Throws DataError.
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
