// Markov chain Monte Carlo over the runs of one group: the values of its terms, what all its runs
// share, and how far each run lies apart.
#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <vector>

#include "sim/population/dice.hpp"
#include "sim/population/linear_rows.hpp"

namespace gradcast {

/// A number that is moved by random steps, which learn their length while the chain burns in.
struct Walker {
  double step = 0.5;
  void learn(bool taken) { step *= taken ? 1.08 : 0.96; }  // in balance at a third taken
};

double square(double value);

/// The log density of a half-normal of this scale, in the logarithm of its value.
double log_half_normal(double value, double scale);

struct GroupChainOptions {
  double scatter = 0.1;  // scale of the half-normal that a run's scatter is drawn from
  /// Above 0: the scatter is lognormal instead, with the median `scatter` and this deviation.
  double scatter_deviation = 0;
  /// Degrees of freedom of the Student's t that terms and shift are drawn from; infinite: a normal.
  double degrees = std::numeric_limits<double>::infinity();
};

/// The model: log(measured) = log(compute + exp(shift) (largest of base + sum of gain x exp(x) -
/// compute)) + e. x and the shift lie about what is known of them; e of a run is Student's t of 4
/// degrees.
class GroupChain {
 public:
  /// `group` must outlive it.
  GroupChain(const LinearGroup& group, const GroupChainOptions& options);

  const Eigen::VectorXd& x() const { return x_; }  // by term of the group
  /// The logarithms that count: those of x, and no more than physics allows.
  Eigen::VectorXd bounded() const;
  double misfit() const { return misfit_; }
  /// With another value of the group's term `a`.
  double misfit_at(std::size_t a, double value) const;
  void set(std::size_t a, double value, double its_misfit);
  double shift() const { return shift_; }
  double misfit_shifted(double shift) const { return misfit(sums_, shift, scatter_); }
  void set_shift(double shift, double its_misfit) {
    shift_ = shift;
    misfit_ = its_misfit;
  }
  double scatter() const { return scatter_; }
  const LinearGroup& group() const { return group_; }

  /// `middle`, `deviation`: of its stack, by the number that the group's list of terms has for
  /// them. `discrepancy`: deviation of the shift.
  void sweep(const Eigen::VectorXd& middle, const Eigen::VectorXd& deviation, double discrepancy,
             Dice& dice, bool learning);

 private:
  /// The times beside compute, by piece and row: exp(shift) stretches them.
  Eigen::VectorXd sums_of(const Eigen::VectorXd& x) const;
  /// The same after a single step, in `moved_sums_`.
  void move_sums(std::size_t a, double value) const;
  double number(std::size_t a, double x) const;
  /// Minus the logarithm of the likelihood.
  double misfit(const Eigen::VectorXd& sums, double shift, double scatter) const;
  double log_scatter_prior(double scatter) const;
  /// Minus the logarithm of the prior's density, so many deviations away.
  double penalty(double deviations) const;
  void move_value(std::size_t a, double middle, double deviation, Dice& dice, bool learning);
  void move_together(const Eigen::VectorXd& middle, const Eigen::VectorXd& deviation,
                     double discrepancy, Dice& dice);
  void move_shift(double discrepancy, Dice& dice, bool learning);
  void move_scatter(Dice& dice, bool learning);

  const LinearGroup& group_;
  GroupChainOptions options_;
  Eigen::VectorXd x_;
  double shift_ = 0;
  double scatter_ = 0.1;
  // Pieces one below the other: what they say beside compute.
  Eigen::VectorXd base_;
  Eigen::MatrixXd gain_;
  Eigen::VectorXd sums_;  // of x_
  double misfit_ = 0;
  std::vector<Walker> walkers_;
  Walker shift_walker_;
  Walker scatter_walker_;
  std::vector<Eigen::VectorXd> past_;
  std::vector<double> past_shifts_;
  int since_ = 0;
  // Room for sums: asking for it took a seventh of a chain's time. A chain is of one thread.
  mutable Eigen::VectorXd moved_sums_;
  mutable Eigen::VectorXd largest_;
  mutable Eigen::VectorXd errors_;
  mutable Eigen::VectorXd apart_errors_;
};

}  // namespace gradcast
