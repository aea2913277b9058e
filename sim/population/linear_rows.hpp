// Measured runs as sums: physics, and what each term of software adds. About some values times are
// linear in the terms, or nearly so. A cost hides behind another until it is the longer one, so
// that the largest of several such sums holds farther away. Where a cost adds the less the larger
// it is, it does not: sums are lowered where a later one knows better.
#pragma once
#include <Eigen/Core>
#include <vector>

#include "sim/plan/run_kind.hpp"
#include "sim/population/groups.hpp"
#include "sim/population/priors.hpp"

namespace gradcast {

/// Times about some values: of row i base[i] + the sum over terms of gain(i, a) x the term's
/// number.
struct LinearPiece {
  Eigen::VectorXd base;  // seconds
  Eigen::MatrixXd gain;  // seconds for each unit of the number
};

/// A group's runs: the time of a row is the largest that its pieces say.
struct LinearGroup {
  std::size_t stack = 0;  // by place among the stacks
  Transport transport = Transport::Nccl;
  std::vector<std::size_t> terms;  // of the priors, that any of its runs depends on
  Eigen::VectorXd measured;        // logarithms of seconds
  Eigen::VectorXd compute;         // seconds of physics that were measured: one GPU alone
  std::vector<LinearPiece> pieces;
  Eigen::VectorXd about;       // by term: the logarithms about which the last piece is right
  std::vector<RunKind> kinds;  // by row
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

/// Whether the time of a row depends on a term, by any piece.
bool depends(const LinearGroup& linear, Eigen::Index row, Eigen::Index term);

/// Seconds by row. `numbers`: by term of the group.
Eigen::VectorXd times_of(const LinearGroup& linear, const Eigen::VectorXd& numbers);

/// The piece that holds there, row by row.
LinearPiece piece_at(const LinearGroup& linear, const Eigen::VectorXd& numbers);

/// Runs, and pieces of them that are added one by one.
class LinearRows {
 public:
  /// `rows` and `quantities` must outlive it.
  LinearRows(const std::vector<LinearRow>& rows,
             const std::vector<const ScenarioQuantity*>& quantities);
  /// Adds what holds about these logarithms, by quantity.
  void add(const Eigen::VectorXd& about);
  /// With the terms that any piece depends on.
  LinearGroup group() const;

 private:
  const std::vector<LinearRow>& rows_;
  const std::vector<const ScenarioQuantity*>& quantities_;
  LinearGroup group_;  // with a column for each quantity
};

/// The largest error of the sums over these rows, as a logarithm, where the group's terms have the
/// logarithms `x`.
double error_of_sums(const LinearGroup& linear, const std::vector<LinearRow>& rows,
                     const std::vector<const ScenarioQuantity*>& quantities,
                     const Eigen::VectorXd& x);

/// A group's rows, with the terms of the priors that concern each.
std::vector<LinearRow> rows_of(const SourceGroup& group, const StackPriors& priors);

}  // namespace gradcast
