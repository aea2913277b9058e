#include "sim/population/group_chain.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/fit/least_squares.hpp"

namespace gradcast {
namespace {

using Eigen::VectorXd;

constexpr double kDegrees = 4;
constexpr int kTogether = 3;  // steps of several terms in a sweep

/// One logarithm for many factors, each at least 1: logarithms take most of a chain's time.
double log_of_product(const Eigen::ArrayXd& factors) {
  constexpr double kLarge = 1e150;  // a product of two numbers below it is finite
  double sum = 0;
  double product = 1;
  for (const double factor : factors) {
    if (product > kLarge) {
      sum += std::log(product);
      product = 1;
    }
    product *= factor;
  }
  return sum + std::log(product);
}

}  // namespace

double square(double value) { return value * value; }

double log_half_normal(double value, double scale) {
  return -0.5 * square(value / scale) + std::log(value);
}

GroupChain::GroupChain(const LinearGroup& group, const GroupChainOptions& options)
    : group_(group), options_(options), x_(group.about), walkers_(group.terms.size()) {
  const Eigen::Index rows = group.measured.size();
  const Eigen::Index all = rows * at(group.pieces.size());
  base_ = VectorXd(all);
  gain_ = Eigen::MatrixXd(all, x_.size());
  for (std::size_t p = 0; p < group.pieces.size(); ++p) {
    base_.segment(rows * at(p), rows) = group.pieces[p].base - group.compute;
    gain_.middleRows(rows * at(p), rows) = group.pieces[p].gain;
  }
  sums_ = sums_of(x_);
  misfit_ = misfit(sums_, 0, scatter_);
}

VectorXd GroupChain::bounded() const {
  return group_.most.size() > 0 ? VectorXd(x_.cwiseMin(group_.most)) : x_;
}

double GroupChain::misfit_at(std::size_t a, double value) const {
  move_sums(a, value);
  return misfit(moved_sums_, shift_, scatter_);
}

void GroupChain::set(std::size_t a, double value, double its_misfit) {
  move_sums(a, value);
  x_[at(a)] = value;
  sums_.swap(moved_sums_);
  misfit_ = its_misfit;
}

void GroupChain::sweep(const VectorXd& middle, const VectorXd& deviation, double discrepancy,
                       Dice& dice, bool learning) {
  sums_ = sums_of(x_);  // single steps have rounded
  for (std::size_t a = 0; a < walkers_.size(); ++a) {
    const Eigen::Index k = at(group_.terms[a]);
    move_value(a, middle[k], deviation[k], dice, learning);
  }
  for (int i = 0; i < kTogether; ++i) move_together(middle, deviation, discrepancy, dice);
  move_shift(discrepancy, dice, learning);
  move_scatter(dice, learning);
  // The archive stands still once the chain is believed.
  constexpr int kEach = 10;
  if (learning && ++since_ % kEach == 0) {
    past_.push_back(x_);
    past_shifts_.push_back(shift_);
  }
}

double GroupChain::number(std::size_t a, double x) const {
  return std::exp(group_.most.size() > 0 ? std::min(x, group_.most[at(a)]) : x);
}

VectorXd GroupChain::sums_of(const VectorXd& x) const {
  VectorXd sums = base_;
  for (std::size_t a = 0; a < group_.terms.size(); ++a)
    sums += number(a, x[at(a)]) * gain_.col(at(a));
  return sums;
}

void GroupChain::move_sums(std::size_t a, double value) const {
  moved_sums_ = sums_ + (number(a, value) - number(a, x_[at(a)])) * gain_.col(at(a));
}

double GroupChain::misfit(const VectorXd& sums, double shift, double scatter) const {
  const Eigen::Index rows = group_.measured.size();
  largest_ = sums.head(rows);
  for (Eigen::Index from = rows; from < sums.size(); from += rows)
    largest_ = largest_.cwiseMax(sums.segment(from, rows));
  errors_ = group_.measured - (group_.compute + std::exp(shift) * largest_).array().log().matrix();
  if (group_.share.size() > 0) errors_ = errors_.cwiseQuotient(group_.share);
  const bool apart = group_.apart.size() > 0;
  if (apart) apart_errors_.noalias() = group_.apart.triangularView<Eigen::Lower>() * errors_;
  const VectorXd& alone = apart ? apart_errors_ : errors_;
  return 0.5 * (kDegrees + 1) * log_of_product(1 + (alone / scatter).array().square() / kDegrees) +
         static_cast<double>(rows) * std::log(scatter);
}

double GroupChain::penalty(double deviations) const {
  const double degrees = options_.degrees;
  if (std::isinf(degrees)) return 0.5 * square(deviations);
  return 0.5 * (degrees + 1) * std::log1p(square(deviations) / degrees);
}

void GroupChain::move_value(std::size_t a, double middle, double deviation, Dice& dice,
                            bool learning) {
  const double x = x_[at(a)];
  const double moved = x + walkers_[a].step * dice.normal();
  const double now = misfit_at(a, moved);
  const bool taken = dice.takes(misfit_ - now + penalty((x - middle) / deviation) -
                                penalty((moved - middle) / deviation));
  if (taken) set(a, moved, now);
  if (learning) walkers_[a].learn(taken);
}

/// Along the difference of two earlier states, in all terms and the shift or in some of them: what
/// runs can hardly tell apart moves as one (differential evolution; Vrugt et al. 2009).
void GroupChain::move_together(const VectorXd& middle, const VectorXd& deviation,
                               double discrepancy, Dice& dice) {
  constexpr std::size_t kFew = 20;
  const std::size_t terms = walkers_.size();
  if (past_.size() <= kFew || terms == 0) return;
  const std::size_t one = dice.below(past_.size());
  const std::size_t other = dice.below(past_.size());
  const double share = static_cast<double>(1 + dice.below(3)) / 3;
  std::vector<std::size_t> moving;
  for (std::size_t a = 0; a <= terms; ++a)  // the last is the shift
    if (dice.uniform() < share) moving.push_back(a);
  if (moving.size() < 2) return;
  const double length = 2.38 / std::sqrt(2 * static_cast<double>(moving.size()));
  VectorXd moved = x_;
  double moved_shift = shift_;
  double gain = 0;
  for (const std::size_t a : moving) {
    if (a == terms) {
      moved_shift += length * (past_shifts_[one] - past_shifts_[other]) + 1e-4 * dice.normal();
      gain += penalty(shift_ / discrepancy) - penalty(moved_shift / discrepancy);
      continue;
    }
    const Eigen::Index i = at(a);
    const Eigen::Index k = at(group_.terms[a]);
    moved[i] += length * (past_[one][i] - past_[other][i]) + 1e-3 * dice.normal();
    gain += penalty((x_[i] - middle[k]) / deviation[k]) -
            penalty((moved[i] - middle[k]) / deviation[k]);
  }
  VectorXd sums = sums_of(moved);
  const double now = misfit(sums, moved_shift, scatter_);
  if (!dice.takes(misfit_ - now + gain)) return;
  x_ = std::move(moved);
  sums_ = std::move(sums);
  shift_ = moved_shift;
  misfit_ = now;
}

void GroupChain::move_shift(double discrepancy, Dice& dice, bool learning) {
  const double moved = shift_ + shift_walker_.step * dice.normal();
  const double now = misfit_shifted(moved);
  const bool taken =
      dice.takes(misfit_ - now + (penalty(shift_ / discrepancy) - penalty(moved / discrepancy)));
  if (taken) set_shift(moved, now);
  if (learning) shift_walker_.learn(taken);
}

double GroupChain::log_scatter_prior(double scatter) const {
  if (options_.scatter_deviation == 0) return log_half_normal(scatter, options_.scatter);
  return -0.5 * square(std::log(scatter / options_.scatter) / options_.scatter_deviation);
}

void GroupChain::move_scatter(Dice& dice, bool learning) {
  const double moved = scatter_ * std::exp(scatter_walker_.step * dice.normal());
  const double now = misfit(sums_, shift_, moved);
  const bool taken =
      dice.takes(misfit_ - now + log_scatter_prior(moved) - log_scatter_prior(scatter_));
  if (taken) {
    scatter_ = moved;
    misfit_ = now;
  }
  if (learning) scatter_walker_.learn(taken);
}

}  // namespace gradcast
