// Two forecasts for the same point, held against each other.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/forecast/evaluation.hpp"

namespace gradcast {

/// Of an evaluation, what a comparison needs, small enough to be sent between processes.
struct Forecast {
  Seconds iteration{0};
  std::optional<ForecastDeviations> deviations{};  // where the cluster was fitted
  int ranks = 0;
  std::string engine{};    // that ran it
  std::string evidence{};  // what the compressor's costs rest on; "" for dense
  std::string outside{};   // the range of the cost table that was left; "" for none
  std::string problem{};   // why there is no answer; "" where there is one

  bool answered() const { return problem.empty(); }
};

Forecast forecast_of(const Evaluation& evaluation);

/// For a pipe: times to the last bit, texts of any bytes. unpack_forecasts throws std::logic_error
/// for what pack did not write.
std::string pack(const std::vector<Forecast>& forecasts);
std::vector<Forecast> unpack_forecasts(const std::string& packed);

/// Differences below this share of the iteration are rounding: a tie.
inline constexpr double kTie = 1e-9;

/// log(other / its): above 0 where its forecast is the faster one; 0 for a tie; nullopt where one
/// has no answer.
std::optional<double> advantage(const Forecast& its, const Forecast& other);

/// Standard deviation of the difference of two forecasts on one cluster. What a wrong property of
/// the cluster does to both alike cancels; what is each run's own (kernels, and what the fit left
/// unexplained, of which nobody knows how much two runs share) adds up as if independent, which
/// rather widens it. nullopt where one has no deviations or no answer.
std::optional<Seconds> deviation_of_difference(const Forecast& one, const Forecast& other);

/// How far two forecasts are from being told apart at kIntervalLevel: the difference that would be
/// needed minus that there is, over the iteration. Above 0: they cannot be told apart. nullopt as
/// above.
std::optional<double> lack_of_difference(const Forecast& one, const Forecast& other);

}  // namespace gradcast
