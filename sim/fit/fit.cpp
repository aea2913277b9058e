#include "sim/fit/fit.hpp"

#include <algorithm>
#include <cmath>

#include "sim/random.hpp"
#include "sim/statistics.hpp"
#include "sim/text.hpp"
#include "sim/uncertainty.hpp"

namespace gradcast {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

Index at(std::size_t i) { return static_cast<Index>(i); }

/// A structure's fit with some of its parameters held where they begin.
class Search {
 public:
  Search(const std::vector<const FitRow*>& rows, const FitStructure& structure,
         const FitOptions& options)
      : rows_(rows), structure_(structure), options_(options), start_(at(size())) {
    for (std::size_t i = 0; i < size(); ++i) start_[at(i)] = structure.parameters[i].start;
    for (const FitRow* row : rows) scopes_.push_back(scope_of(structure, row->run));
    held_.resize(size());
  }

  std::size_t size() const { return structure_.parameters.size(); }
  const VectorXd& start() const { return start_; }
  std::vector<std::string>& held() { return held_; }  // why, by parameter

  std::vector<std::size_t> searched() const {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < size(); ++i)
      if (held_[i].empty()) which.push_back(i);
    return which;
  }

  /// All of the parameters.
  VectorXd whole(const VectorXd& some) const {
    VectorXd all = start_;
    const auto which = searched();
    for (std::size_t i = 0; i < which.size(); ++i) all[at(which[i])] = some[at(i)];
    return all;
  }

  LeastSquaresSolution solve(const VectorXd& from) {
    const auto which = searched();
    LeastSquaresProblem problem{VectorXd(at(which.size())), VectorXd(at(which.size())), {}};
    VectorXd begin(at(which.size()));
    for (std::size_t i = 0; i < which.size(); ++i) {
      problem.least[at(i)] = structure_.parameters[which[i]].least;
      problem.most[at(i)] = structure_.parameters[which[i]].most;
      begin[at(i)] = from[at(which[i])];
    }
    problem.residuals = [&](const VectorXd& some) { return residuals(whole(some)); };
    return minimize(problem, begin);
  }

  VectorXd random_start(int number) const {
    VectorXd drawn = start_;
    for (const std::size_t i : searched()) {
      const FitParameter& parameter = structure_.parameters[i];
      const double share = uniform({options_.seed, static_cast<std::uint64_t>(number),
                                    Draw::FitStart, static_cast<std::uint64_t>(i)});
      drawn[at(i)] = parameter.least + share * (parameter.most - parameter.least);
    }
    return drawn;
  }

 private:
  /// Differences in what the structure's errors are counted in. A run is only forecast anew where a
  /// parameter of its own changed: most steps of a search change one.
  VectorXd residuals(const VectorXd& parameters) {
    if (last_.size() != parameters.size()) times_.assign(rows_.size(), -1);
    VectorXd differences(at(rows_.size()));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      bool same = times_[r] >= 0;
      for (std::size_t i = 0; i < size() && same; ++i)
        same = !scopes_[r][i] || parameters[at(i)] == last_of_row_[r][at(i)];
      if (!same) {
        times_[r] = run(with_parameters(*rows_[r], structure_, parameters), *options_.engine)
                        .iteration.count();
        last_of_row_.resize(rows_.size());
        last_of_row_[r] = parameters;
      }
      const double measured = rows_[r]->run.iteration.count();
      const double unit = structure_.errors == FitErrors::Relative ? measured : 1;
      differences[at(r)] = (times_[r] - measured) / unit;
    }
    last_ = parameters;
    return differences;
  }

  const std::vector<const FitRow*>& rows_;
  const FitStructure& structure_;
  const FitOptions& options_;
  VectorXd start_;
  std::vector<std::vector<bool>> scopes_;  // by run, by parameter
  std::vector<std::string> held_;
  VectorXd last_;
  std::vector<VectorXd> last_of_row_;
  std::vector<double> times_;  // by run
};

std::string names_of(const FitStructure& structure, const std::vector<std::size_t>& which) {
  std::vector<std::string> names;
  for (const std::size_t i : which) names.push_back(structure.parameters[i].name());
  return join(names, " and ");
}

/// Holds what these runs say nothing of. True where anything was held.
bool hold_unidentified(Search& search, const FitStructure& structure,
                       const LeastSquaresSolution& solution, Fit& fit) {
  const auto which = search.searched();
  const Identification found = identify(solution.jacobian);
  bool held = false;
  for (std::size_t i = 0; i < which.size(); ++i)
    if (found.without_effect[i]) {
      search.held()[which[i]] = "no run of the fit depends on it";
      held = true;
    }
  if (held) return true;
  fit.relative_singular_value = found.relative_singular_value;
  if (found.mixed.empty() || found.relative_singular_value >= kLeastSingularValue) return false;
  std::vector<std::size_t> mixed;
  for (const std::size_t i : found.mixed) mixed.push_back(which[i]);
  fit.not_told_apart.push_back(names_of(structure, mixed));
  search.held()[mixed.back()] = "these runs cannot tell " + names_of(structure, mixed) + " apart";
  return true;
}

/// How far forecasts lie apart between parameters that fit equally well, in percent.
double spread_percent(const std::vector<const FitRow*>& rows, const FitStructure& structure,
                      const std::vector<VectorXd>& solutions, const Engine& engine) {
  if (solutions.size() < 2 || rows.empty()) return 0;
  VectorXd least;
  VectorXd most;
  for (const VectorXd& each : solutions) {
    const VectorXd times = forecasts(rows, structure, each, engine);
    least = least.size() == 0 ? times : VectorXd(least.cwiseMin(times));
    most = most.size() == 0 ? times : VectorXd(most.cwiseMax(times));
  }
  return 100 * ((most - least).cwiseQuotient(least)).maxCoeff();
}

/// The parameter that lies most apart between solutions, in shares of its room.
std::size_t most_apart(const FitStructure& structure, const std::vector<std::size_t>& searched,
                       const std::vector<VectorXd>& solutions) {
  std::size_t which = searched.front();
  double widest = -1;
  for (const std::size_t i : searched) {
    double least = solutions.front()[at(i)];
    double most = least;
    for (const VectorXd& each : solutions) {
      least = std::min(least, each[at(i)]);
      most = std::max(most, each[at(i)]);
    }
    const FitParameter& parameter = structure.parameters[i];
    const double share = (most - least) / (parameter.most - parameter.least);
    if (share > widest) {
      widest = share;
      which = i;
    }
  }
  return which;
}

/// Two searches that ended as low as this are the same end; differences below 1e-5, of a second or
/// as a share, are none.
bool as_low(double sum, double best, std::size_t runs) {
  return sum <= best * (1 + 1e-4) + 1e-10 * static_cast<double>(runs);
}

}  // namespace

Fit fit_rows(const std::vector<const FitRow*>& rows, const FitStructure& structure,
             const FitOptions& options, const std::vector<const FitRow*>& targets) {
  Fit fit;
  fit.structure = &structure;
  fit.runs = rows.size();
  fit.rows = rows;
  Search search(rows, structure, options);
  LeastSquaresSolution best;
  while (true) {
    best = search.solve(search.start());
    if (hold_unidentified(search, structure, best, fit)) continue;
    std::vector<LeastSquaresSolution> ends{best};
    const auto searched = search.searched();
    for (int number = 0; number < options.random_starts && !searched.empty(); ++number) {
      ends.push_back(search.solve(search.random_start(number)));
      if (ends.back().sum_of_squares < best.sum_of_squares) best = ends.back();
    }
    std::vector<VectorXd> lowest;
    for (const LeastSquaresSolution& end : ends)
      if (as_low(end.sum_of_squares, best.sum_of_squares, rows.size()))
        lowest.push_back(search.whole(end.parameters));
    fit.starts = static_cast<int>(ends.size());
    fit.starts_that_agree = static_cast<int>(lowest.size());
    fit.start_spread_percent = spread_percent(targets, structure, lowest, *options.engine);
    if (fit.start_spread_percent <= kMostStartSpreadPercent) break;
    search.held()[most_apart(structure, searched, lowest)] =
        "forecasts depend on where the search for it begins";
  }
  // Nearly the same is told, too: what a reader may not take apart.
  const auto searched = search.searched();
  const Identification found = identify(best.jacobian);
  constexpr double kHardly = 0.03;  // an interval 30 times as wide as alone
  if (!found.mixed.empty() && found.relative_singular_value < kHardly) {
    std::vector<std::size_t> mixed;
    for (const std::size_t i : found.mixed) mixed.push_back(searched[i]);
    fit.not_told_apart.push_back(names_of(structure, mixed));
  }

  fit.values = search.whole(best.parameters);
  std::vector<bool> free;
  int estimated = 0;
  for (std::size_t i = 0; i < searched.size(); ++i) {
    free.push_back(!best.at_bound[i]);
    estimated += free.back();
  }
  fit.degrees = std::max<double>(1, static_cast<double>(rows.size()) - estimated);
  fit.deviation = std::sqrt(best.sum_of_squares / fit.degrees);
  fit.residuals = best.residuals;
  const Eigen::MatrixXd some = covariance(best, free, fit.degrees);
  fit.covariance = Eigen::MatrixXd::Zero(at(search.size()), at(search.size()));
  for (std::size_t i = 0; i < searched.size(); ++i)
    for (std::size_t j = 0; j < searched.size(); ++j)
      fit.covariance(at(searched[i]), at(searched[j])) = some(at(i), at(j));
  const double t = t_quantile(0.975, fit.degrees);
  for (std::size_t i = 0; i < search.size(); ++i) {
    const double value = fit.values[at(i)];
    const double half = t * std::sqrt(std::max(0.0, fit.covariance(at(i), at(i))));
    fit.parameters.push_back({value, value - half, value + half, false, search.held()[i]});
  }
  for (std::size_t i = 0; i < searched.size(); ++i)
    fit.parameters[searched[i]].at_bound = best.at_bound[i];
  return fit;
}

namespace {

/// A measure of a run that a fit should not be asked beyond.
struct Reach {
  std::string_view name;
  double (*of)(const FitRow& row);
};

constexpr Reach kReaches[] = {
    {"compute_seconds", [](const FitRow& row) { return row.run.compute.count(); }},
    {"elements",
     [](const FitRow& row) {
       return row.scenario.payload.count > 0 ? static_cast<double>(row.scenario.payload.count)
                                             : static_cast<double>(row.scenario.model.elements());
     }},
    {"ranks", [](const FitRow& row) { return static_cast<double>(row.scenario.cluster.ranks()); }},
};

bool same_algorithm(const FitRow& a, const FitRow& b) {
  return a.run.source == b.run.source && a.run.compressor == b.run.compressor &&
         a.run.collective == b.run.collective;
}

/// What the fit left unexplained in runs like this one, and on how many degrees of freedom.
struct Unexplained {
  double deviation = 0;
  double degrees = 1;
};

Unexplained unexplained_like(const Fit& fit, const FitRow& row) {
  double sum = 0;
  std::size_t like = 0;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    if (!same_algorithm(*fit.rows[i], row)) continue;
    sum += fit.residuals[at(i)] * fit.residuals[at(i)];
    ++like;
  }
  if (like < kFewRuns) return {fit.deviation, fit.degrees};
  // Each run bears its part of what the parameters took away.
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
  double variance = unexplained * unexplained;

  // How the forecast moves with each parameter, to both sides of where it stands.
  VectorXd gradient = VectorXd::Zero(fit.values.size());
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
    // Evenly between its bounds is all that is known of one that was not estimated.
    if (!fit.parameters[i].fixed.empty())
      variance += gradient[at(i)] * gradient[at(i)] * room * room / 12;
  }
  variance += gradient.dot(fit.covariance * gradient);
  const double kernels = kernel_deviation(plan, scenario).count();
  variance += kernels * kernels;
  const double half = t_quantile((1 + kIntervalLevel) / 2, like.degrees) * std::sqrt(variance);
  forecast.low = Seconds{std::max(0.0, time - half)};
  forecast.high = Seconds{time + half};
  return forecast;
}

}  // namespace gradcast
