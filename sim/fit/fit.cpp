#include "sim/fit/fit.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/random.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// A structure's fit with some of its parameters held where they begin.
class Search {
 public:
  Search(const std::vector<const FitRow*>& rows, const FitStructure& structure,
         const FitOptions& options, RowForecasters& forecasters)
      : rows_(rows), structure_(structure), options_(options), start_(at(size())) {
    for (std::size_t i = 0; i < size(); ++i) start_[at(i)] = structure.parameters[i].start;
    for (const FitRow* row : rows) forecasters_.push_back(&forecasters.of(*row));
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
    // The first forecasts, at the start and a step beside it in each direction, are those of every
    // other fit that begins there.
    std::size_t shared = 1 + which.size();
    problem.residuals = [&](const VectorXd& some) {
      const bool keep = shared > 0;
      if (keep) --shared;
      return residuals(whole(some), keep ? RowForecaster::Keep::Always : RowForecaster::Keep::Last);
    };
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
  /// The differences, in the unit of the structure's errors.
  VectorXd residuals(const VectorXd& parameters, RowForecaster::Keep keep) {
    VectorXd differences(at(rows_.size()));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const double measured = rows_[r]->run.iteration.count();
      const double unit = structure_.errors == FitErrors::Relative ? measured : 1;
      differences[at(r)] = (forecasters_[r]->at(parameters, keep) - measured) / unit;
    }
    return differences;
  }

  const std::vector<const FitRow*>& rows_;
  const FitStructure& structure_;
  const FitOptions& options_;
  VectorXd start_;
  std::vector<RowForecaster*> forecasters_;  // by run
  std::vector<std::string> held_;
};

std::string names_of(const FitStructure& structure, const std::vector<std::size_t>& which) {
  std::vector<std::string> names;
  for (const std::size_t i : which) names.push_back(structure.parameters[i].name());
  return join(names, " and ");
}

/// Holds the parameters about which these runs say nothing. True if any was held.
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

/// The largest difference, in percent, between forecasts of one run by parameters that fit equally
/// well.
double spread_percent(const std::vector<const FitRow*>& rows,
                      const std::vector<VectorXd>& solutions, RowForecasters& forecasters) {
  if (solutions.size() < 2) return 0;
  double widest = 0;
  for (const FitRow* row : rows) {
    double least = INFINITY;
    double most = 0;
    for (const VectorXd& each : solutions) {
      const double time = forecasters.of(*row).at(each);
      least = std::min(least, time);
      most = std::max(most, time);
    }
    widest = std::max(widest, 100 * (most - least) / least);
  }
  return widest;
}

/// The parameter that differs most between solutions, as a share of the room between its bounds.
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

/// True if a search ended as low as the best one. Differences below 1e-5, of a second or as a
/// share, do not count.
bool as_low(double sum, double best, std::size_t runs) {
  return sum <= best * (1 + 1e-4) + 1e-10 * static_cast<double>(runs);
}

/// The ends of the searches from the structure's own start and from random starts.
struct Ends {
  LeastSquaresSolution best;
  std::vector<LeastSquaresSolution> all;
};

Ends search_from_everywhere(Search& search, const FitOptions& options, std::size_t runs) {
  Ends ends;
  ends.all.push_back(search.solve(search.start()));
  ends.best = ends.all.front();
  for (int number = 0; number < options.random_starts && !search.searched().empty(); ++number) {
    ends.all.push_back(search.solve(search.random_start(number)));
    if (ends.all.back().sum_of_squares < ends.best.sum_of_squares) ends.best = ends.all.back();
  }
  // If the search from the structure's own start ends as low as any, its end is taken, because that
  // start has a source and is not random.
  if (as_low(ends.all.front().sum_of_squares, ends.best.sum_of_squares, runs))
    ends.best = ends.all.front();
  return ends;
}

/// Parameters that these runs can hardly tell apart are reported too.
void note_hardly_told_apart(Fit& fit, const Search& search, const LeastSquaresSolution& best) {
  constexpr double kHardly = 0.03;  // an interval 30 times as wide as alone
  const Identification found = identify(best.jacobian);
  if (found.mixed.empty() || found.relative_singular_value >= kHardly) return;
  std::vector<std::size_t> mixed;
  for (const std::size_t i : found.mixed) mixed.push_back(search.searched()[i]);
  fit.not_told_apart.push_back(names_of(*fit.structure, mixed));
}

/// Covariance, intervals and what is left unexplained.
void tell_how_sure(Fit& fit, Search& search, const LeastSquaresSolution& best) {
  const auto searched = search.searched();
  const FitStructure& structure = *fit.structure;
  std::vector<bool> free;
  for (std::size_t i = 0; i < searched.size(); ++i) free.push_back(!best.at_bound[i]);
  const auto estimated = static_cast<std::size_t>(std::count(free.begin(), free.end(), true));
  // As many parameters as runs fit the runs exactly, which says nothing about how sure they are.
  // All that is known is that they lie between their bounds.
  const bool none_to_spare = fit.runs <= estimated;
  fit.degrees = none_to_spare ? 1 : static_cast<double>(fit.runs - estimated);
  fit.deviation = std::sqrt(best.sum_of_squares / fit.degrees);
  fit.residuals = best.residuals;
  const Eigen::MatrixXd some = covariance(best, free, fit.degrees);
  fit.covariance = Eigen::MatrixXd::Zero(at(search.size()), at(search.size()));
  for (std::size_t i = 0; i < searched.size(); ++i)
    for (std::size_t j = 0; j < searched.size(); ++j)
      fit.covariance(at(searched[i]), at(searched[j])) = none_to_spare ? 0 : some(at(i), at(j));
  const double t = t_quantile(0.975, fit.degrees);
  for (std::size_t i = 0; i < search.size(); ++i) {
    const double value = fit.values[at(i)];
    const double half = t * std::sqrt(std::max(0.0, fit.covariance(at(i), at(i))));
    fit.parameters.push_back({value, value - half, value + half, false, search.held()[i]});
  }
  for (std::size_t i = 0; i < searched.size(); ++i) {
    const FitParameter& parameter = structure.parameters[searched[i]];
    FittedParameter& fitted = fit.parameters[searched[i]];
    fitted.at_bound = best.at_bound[i];
    if (!none_to_spare || !free[i]) continue;
    fitted.low = parameter.least;
    fitted.high = parameter.most;
    const double room = parameter.most - parameter.least;
    fit.covariance(at(searched[i]), at(searched[i])) = room * room / 12;
  }
}

}  // namespace

Fit fit_rows(const std::vector<const FitRow*>& rows, const FitStructure& structure,
             const FitOptions& options, const std::vector<const FitRow*>& targets) {
  RowForecasters forecasters(structure, *options.engine);
  return fit_rows(rows, structure, options, targets, forecasters);
}

Fit fit_rows(const std::vector<const FitRow*>& rows, const FitStructure& structure,
             const FitOptions& options, const std::vector<const FitRow*>& targets,
             RowForecasters& forecasters) {
  Fit fit;
  fit.structure = &structure;
  fit.runs = rows.size();
  fit.rows = rows;
  Search search(rows, structure, options, forecasters);
  LeastSquaresSolution best;
  while (true) {
    const Ends ends = search_from_everywhere(search, options, rows.size());
    best = ends.best;
    // This comes only now: a parameter without effect near the structure's own start may have one
    // where other searches ended.
    if (hold_unidentified(search, structure, best, fit)) continue;
    std::vector<VectorXd> lowest;
    for (const LeastSquaresSolution& end : ends.all)
      if (as_low(end.sum_of_squares, best.sum_of_squares, rows.size()))
        lowest.push_back(search.whole(end.parameters));
    fit.starts = static_cast<int>(ends.all.size());
    fit.starts_that_agree = static_cast<int>(lowest.size());
    fit.start_spread_percent = spread_percent(targets, lowest, forecasters);
    if (fit.start_spread_percent <= kMostStartSpreadPercent) break;
    search.held()[most_apart(structure, search.searched(), lowest)] =
        "forecasts depend on where the search for it begins";
  }
  note_hardly_told_apart(fit, search, best);
  fit.values = search.whole(best.parameters);
  tell_how_sure(fit, search, best);
  return fit;
}

}  // namespace gradcast
