// Compares two forecasts for the same point.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/forecast/evaluation.hpp"

namespace gradcast {

/// The part of an evaluation that a comparison needs. It is small enough to be sent between
/// processes.
struct RunForecast {
  Seconds iteration{0};
  std::optional<ForecastDeviations> deviations{};  // set if the cluster was fitted
  int ranks = 0;
  std::string engine{};        // the engine that ran it
  std::string evidence{};      // evidence for the compressor's costs; "" for dense
  std::string outside{};       // the range of the cost table that was left; "" if none was
  std::string problem{};       // reason for no answer; "" if there is one
  std::string outside_seen{};  // terms of the stack that are left at physics
  std::optional<SoftwareSpread> spread{};  // set if a stack was named
  std::string schedule{};                  // "merged", "ddp, overlapped"

  bool answered() const { return problem.empty(); }
};

RunForecast forecast_of(const Evaluation& evaluation);

/// Text for a pipe: times are exact to the last bit, and texts may have any bytes. unpack_forecasts
/// throws std::logic_error for text that pack did not write.
std::string pack(const std::vector<RunForecast>& forecasts);
std::vector<RunForecast> unpack_forecasts(const std::string& packed);

/// A difference below this share of the iteration is rounding, and counts as a tie.
inline constexpr double kTie = 1e-9;

/// log(other / its): above 0 if its forecast is the faster one; 0 for a tie; nullopt if one has no
/// answer.
std::optional<double> advantage(const RunForecast& its, const RunForecast& other);

/// The standard deviation of the difference of two forecasts on one cluster (see
/// variance_of_difference). nullopt if one has no deviations or no answer.
std::optional<Seconds> deviation_of_difference(const RunForecast& one, const RunForecast& other);

/// The interval of how many times as fast `its` run is: what a verdict is made from. nullopt if one
/// of the two has no answer, or nothing that says how far it is off.
std::optional<RatioInterval> speedup_of(const RunForecast& its, const RunForecast& other);

/// Distance of two forecasts from being told apart at kIntervalLevel: the difference needed minus
/// the actual one, divided by the iteration. Above 0 they cannot be told apart. Forecasts by stacks
/// instead give the distance of 1 from the nearer end of the speedup's interval, positive inside it
/// (joint draws). nullopt as above.
std::optional<double> lack_of_difference(const RunForecast& one, const RunForecast& other);

}  // namespace gradcast
