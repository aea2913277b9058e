// Forecasts by a fit: in which values they lie beyond it, and how far they may be off.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "kernels/normal_quantile.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "sim/fit/fit.hpp"
#include "sim/forecast/software_spread.hpp"
#include "sim/forecast/uncertainty.hpp"

namespace gradcast {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A value of a run. A fit should not be used beyond the range of this value in its own runs.
struct Reach {
  std::string_view name;
  double (*of)(const FitRow& row);
};

constexpr Reach kReaches[] = {
    {"compute_seconds", [](const FitRow& row) { return row.run.compute.count(); }},
    {"elements",
     [](const FitRow& row) {
       return row.scenario.payload.count > 0 ? static_cast<double>(row.scenario.payload.count)
                                             : static_cast<double>(row.scenario.model->elements());
     }},
    {"ranks", [](const FitRow& row) { return static_cast<double>(row.scenario.cluster.ranks()); }},
};

bool same_algorithm(const FitRow& a, const FitRow& b) {
  return a.run.source == b.run.source && a.run.compressor == b.run.compressor &&
         a.run.collective == b.run.collective;
}

/// Standard deviation that the fit left unexplained in runs like this one, with its degrees of
/// freedom.
struct Unexplained {
  double deviation = 0;
  double degrees = 1;
};

/// The deviation for a compressor that the fit has not seen. Each compressor that it has seen
/// stands for it with the same weight, however many runs it has. So the degrees of freedom are one
/// fewer than the compressors.
Unexplained unexplained_among(const Fit& fit) {
  std::map<std::string, std::pair<double, int>> sums;  // by compressor: sum of squares, and runs
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    auto& [sum, runs] = sums[fit.rows[i]->run.compressor];
    sum += fit.residuals[at(i)] * fit.residuals[at(i)];
    ++runs;
  }
  if (sums.empty()) return {fit.deviation, fit.degrees};
  double of_means = 0;
  for (const auto& [compressor, own] : sums) of_means += own.first / own.second;
  const auto compressors = static_cast<double>(sums.size());
  const double deviation = std::sqrt(of_means / compressors);
  return {std::max(deviation, fit.deviation), std::max(1.0, compressors - 1)};
}

bool has_seen(const Fit& fit, const FitRow& row) {
  return std::any_of(fit.rows.begin(), fit.rows.end(), [&](const FitRow* other) {
    return other->run.compressor == row.run.compressor;
  });
}

Unexplained unexplained_like(const Fit& fit, const FitRow& row) {
  if (!has_seen(fit, row)) return unexplained_among(fit);
  double sum = 0;
  std::size_t like = 0;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    if (!same_algorithm(*fit.rows[i], row)) continue;
    sum += fit.residuals[at(i)] * fit.residuals[at(i)];
    ++like;
  }
  if (like < kFewRuns) return {fit.deviation, fit.degrees};
  // The degrees of freedom that the parameters took away are shared equally among the runs.
  const double degrees = static_cast<double>(like) * fit.degrees / static_cast<double>(fit.runs);
  return {std::sqrt(sum / degrees), std::max(1.0, degrees)};
}

std::string extrapolation_of(const Fit& fit, const FitRow& row) {
  std::vector<std::string> beyond;
  for (const Reach& reach : kReaches) {
    const double its = reach.of(row);
    double least = INFINITY;
    double most = -INFINITY;
    for (const FitRow* other : fit.rows)
      if (same_algorithm(*other, row)) {
        least = std::min(least, reach.of(*other));
        most = std::max(most, reach.of(*other));
      }
    if (least > most) {
      beyond.push_back("no run of " + row.run.compressor + " in the fit");
      break;
    }
    if (its < least)
      beyond.push_back(std::string(reach.name) + " " + number_to_text(its) + " below " +
                       number_to_text(least));
    if (its > most)
      beyond.push_back(std::string(reach.name) + " " + number_to_text(its) + " above " +
                       number_to_text(most));
  }
  const std::vector<bool> in_scope = scope_of(*fit.structure, row.run);
  for (std::size_t i = 0; i < in_scope.size(); ++i)
    if (in_scope[i] && !fit.parameters[i].fixed.empty())
      beyond.push_back(fit.structure->parameters[i].name() +
                       " not estimated: " + fit.parameters[i].fixed);
  return join(beyond, "; ");
}

/// The triangle L with L Lᵀ = covariance (Cholesky's); 0 where a parameter was not estimated.
MatrixXd root_of(const MatrixXd& covariance) {
  MatrixXd root = MatrixXd::Zero(covariance.rows(), covariance.cols());
  for (Index i = 0; i < root.rows(); ++i)
    for (Index j = 0; j <= i; ++j) {
      const double left = covariance(i, j) - root.row(i).head(j).dot(root.row(j).head(j));
      if (i == j)
        root(i, i) = std::sqrt(std::max(0.0, left));
      else if (root(j, j) > 0)
        root(i, j) = left / root(j, j);
    }
  return root;
}

}  // namespace

FitForecast forecast(const Fit& fit, const FitRow& row, const Engine& engine,
                     const Engine& search_engine) {
  const FitStructure& structure = *fit.structure;
  const Scenario scenario = with_parameters(row, structure, fit.values);
  const Plan plan = make_plan(scenario);
  FitForecast forecast{summarize(plan, engine.run(plan, scenario.cluster, scenario.world)),
                       {},
                       {},
                       extrapolation_of(fit, row)};
  const double time = forecast.result.iteration.count();
  const Unexplained like = unexplained_like(fit, row);
  const double unexplained =
      structure.errors == FitErrors::Relative ? like.deviation * time : like.deviation;
  double own = unexplained * unexplained;

  // The gradient of the forecast by each parameter, from a step to either side.
  VectorXd gradient = VectorXd::Zero(fit.values.size());
  VectorXd not_estimated = VectorXd::Zero(fit.values.size());
  const std::vector<bool> in_scope = scope_of(structure, row.run);
  for (std::size_t i = 0; i < in_scope.size(); ++i) {
    if (!in_scope[i]) continue;
    const FitParameter& parameter = structure.parameters[i];
    const double room = parameter.most - parameter.least;
    const double step = std::max(1e-4 * room, std::sqrt(fit.covariance(at(i), at(i))));
    const auto moved = [&](double by) {
      VectorXd values = fit.values;
      values[at(i)] = std::clamp(values[at(i)] + by, parameter.least, parameter.most);
      return std::pair(values[at(i)], forecasts({&row}, structure, values, search_engine)[0]);
    };
    const auto [low, at_low] = moved(-step);
    const auto [high, at_high] = moved(step);
    gradient[at(i)] = (at_high - at_low) / (high - low);
    // A parameter that was not estimated is taken as uniform between its bounds.
    if (!fit.parameters[i].fixed.empty())
      not_estimated[at(i)] = gradient[at(i)] * room / std::sqrt(12.0);
  }
  const double kernels = kernel_deviation(plan, scenario).count();
  own += kernels * kernels;

  // Wrong parameters err in every run of the cluster; the covariance's root tells them apart.
  const double as_normal = t_quantile((1 + kIntervalLevel) / 2, like.degrees) /
                           -normal_quantile((1 - kIntervalLevel) / 2);
  forecast.deviations.own = Seconds{as_normal * std::sqrt(own)};
  const VectorXd estimated = root_of(fit.covariance).transpose() * gradient;
  for (const VectorXd& shifts : {estimated, not_estimated})
    for (const double shift : shifts)
      forecast.deviations.shared.push_back(Seconds{as_normal * shift});
  const ForecastInterval interval = interval_about(forecast.result.iteration, forecast.deviations);
  // No run is faster than its GPU alone.
  const Seconds least = kLeastOfCompute * scenario.compute();
  forecast.low = std::max(interval.low, std::min(least, forecast.result.iteration));
  forecast.high = interval.high;
  return forecast;
}

}  // namespace gradcast
