// Measured runs as sums: physics, and what each term of software adds. Times are linear in a term,
// or nearly so, about the values where it was measured.
#pragma once
#include <Eigen/Core>
#include <vector>

#include "sim/plan/run_kind.hpp"
#include "sim/population/groups.hpp"
#include "sim/population/priors.hpp"

namespace gradcast {

/// A group's runs: time of row i = physics[i] + the sum over its terms of gain(i, a) x exp(log of
/// the term's number).
struct LinearGroup {
  std::size_t stack = 0;  // by place among the stacks
  Transport transport = Transport::Nccl;
  std::vector<std::size_t> terms;  // of the priors, that any of its runs depends on
  Eigen::VectorXd measured;        // logarithms of seconds
  Eigen::VectorXd compute;         // seconds of physics that were measured: one GPU alone
  Eigen::VectorXd physics;         // seconds
  Eigen::MatrixXd gain;            // by row, by term: seconds for each unit of the number
  Eigen::VectorXd about;           // by term: the logarithms about which this is right
  std::vector<RunKind> kinds;      // by row
  /// Takes residuals apart that kinds of runs share: rows with it are as if independent, each with
  /// the scatter of a run. Empty: they are independent.
  Eigen::MatrixXd apart{};
  /// `scatter_share` of each row. Empty: 1.
  Eigen::VectorXd share{};
  /// Logarithm of the largest number that physics allows each term. Empty: all numbers.
  Eigen::VectorXd most{};
};

/// A run, and the terms that concern it.
struct LinearRow {
  const Scenario* physics = nullptr;  // without software
  Seconds measured{0};
  std::vector<std::size_t> terms;  // places in `quantities`
};

/// Covariances of the errors of runs of these kinds, by row and column, in squares of a run's
/// scatter: what their kinds share, and of one list with itself all of it.
Eigen::MatrixXd kind_correlations(const std::vector<RunKind>& some,
                                  const std::vector<RunKind>& others);
Eigen::MatrixXd scatter_of(const std::vector<RunKind>& kinds);

/// The inverse of Cholesky's triangle of these kinds' correlations: it makes the errors of their
/// runs independent.
Eigen::MatrixXd apart_of(const std::vector<RunKind>& kinds);

/// `about`: by quantity, the logarithm of its number.
LinearGroup linear_rows(const std::vector<LinearRow>& rows,
                        const std::vector<const ScenarioQuantity*>& quantities,
                        const Eigen::VectorXd& about);

/// The largest error of the sums over these rows, as a logarithm, where the group's terms have the
/// logarithms `x`.
double error_of_sums(const LinearGroup& linear, const std::vector<LinearRow>& rows,
                     const std::vector<const ScenarioQuantity*>& quantities,
                     const Eigen::VectorXd& x);

/// `about`: by term of the priors.
LinearGroup linear_group(const SourceGroup& group, std::size_t stack, const StackPriors& priors,
                         const Eigen::VectorXd& about);

}  // namespace gradcast
