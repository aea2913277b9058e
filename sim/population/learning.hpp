// A stack on one cluster, from a few runs there: what is known of the stack elsewhere is the prior,
// and the runs update it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/fit/row_model.hpp"
#include "sim/forecast/evaluation.hpp"
#include "sim/plan/stack.hpp"
#include "sim/population/linear_rows.hpp"

namespace gradcast {

/// A median with its 90 % interval, in the number of a quantity or as a factor.
struct KnownRange {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// One term, before and after the runs.
struct LearnedTerm {
  std::string name;
  const ScenarioQuantity* quantity = nullptr;  // nullptr: the factor on all times, or the scatter
  KnownRange before;
  KnownRange after;
};

struct LearnedStack {
  Stack stack;
  std::vector<LearnedTerm> terms;  // that the runs depend on, then the factor and the scatter
};

/// The most runs that are learned from. More are a fit's.
inline constexpr std::size_t kMostLearned = 60;

/// Learns a stack from runs of one cluster by Markov chain Monte Carlo. The terms of the stack that
/// change the time of any run are lognormal, with the tails of SoftwareSpread; all runs share a
/// factor; each has its own scatter (group_chain.hpp). Times are sums of the terms (linear_rows),
/// about the prior first and then also about what came out, until they are right there.
class StackLearner {
 public:
  /// `rows` must outlive it and have no stack of their own. `prior` may not be one that was learned
  /// itself: throws ValueError.
  StackLearner(const Stack& prior, const std::vector<FitRow>& rows, std::uint64_t seed);

  /// The stack by all rows. `evidence` is the source of what was learned: "3 runs of my-runs".
  LearnedStack by_all(const std::string& evidence) const;
  /// The stack by some of the rows.
  LearnedStack by_some(const std::vector<std::size_t>& rows) const;

  const Stack& prior() const { return prior_; }

 private:
  struct Draw {
    Eigen::VectorXd x;
    double shift = 0;
    double scatter = 0;
  };
  struct Lengths {
    int burn_in = 0;
    int sweeps = 0;
    int thin = 1;
  };

  std::vector<Draw> chain_draws(const LinearGroup& linear, const Lengths& lengths) const;
  /// The draws of each term of the group, and last of the shift.
  static std::vector<std::vector<double>> columns_of(const LinearGroup& linear,
                                                     const std::vector<Draw>& draws);
  static Eigen::VectorXd centre_of(const LinearGroup& linear, const std::vector<Draw>& draws,
                                   const std::vector<std::vector<double>>& columns);
  LinearGroup some_of(const std::vector<std::size_t>& rows) const;
  LearnedStack learned(const LinearGroup& linear, const std::vector<std::size_t>& rows,
                       const std::vector<Draw>& draws, const std::string& evidence) const;
  /// The compressors of these rows that pay a term of the prior: what it is of others they do not
  /// say.
  std::set<std::string> compressors_of(std::size_t term,
                                       const std::vector<std::size_t>& rows) const;
  /// Implementation of the kernels that the rows of a kind had; "" where they had several.
  std::string implementation_of(const RunKind& kind, const LinearGroup& linear,
                                const std::vector<std::size_t>& rows) const;
  void widen_seen(StackTerm& term, const LinearGroup& linear, std::size_t column,
                  const std::vector<std::size_t>& rows) const;

  Stack prior_;
  const std::vector<FitRow>& rows_;
  std::uint64_t seed_;
  std::vector<Scenario> physics_;                // by row
  std::vector<std::vector<std::string>> links_;  // by row: those that it would have shown
  Eigen::VectorXd middle_;                       // by term of the prior, as the chain draws them
  Eigen::VectorXd deviation_;
  LinearGroup linear_;  // of all rows
  std::vector<Draw> draws_;
};

/// A run forecast by the stack alone, and by the stack with the runs of other set-ups.
struct CheckedRun {
  const FitRow* row = nullptr;
  Evaluation before;
  Evaluation after;
  /// Runs of other set-ups; none: nothing checks it, and `after` is `before`.
  std::size_t others = 0;

  double error_percent(const Evaluation& forecast) const;
  bool holds(const Evaluation& forecast) const;  // whether its interval holds the measurement
};

/// Each row by the others. A run that repeats it says how far runs scatter, and not how good a
/// forecast is: it is left out, too. `progress`: called with how many rows are done.
std::vector<CheckedRun> check_by_others(const StackLearner& learner,
                                        const std::vector<FitRow>& rows, const Engine& engine,
                                        const std::function<void(std::size_t)>& progress = {});

/// A run's forecast by this stack.
Evaluation evaluate_on(const Scenario& scenario, const std::shared_ptr<const Stack>& stack,
                       const Engine& engine);

}  // namespace gradcast
