#include "sim/population/group_chain.hpp"

#include <Eigen/Core>
#include <cmath>

#include "sim/fit/least_squares.hpp"

namespace gradcast {
namespace {

using Eigen::VectorXd;

constexpr double kDegrees = 4;

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
  misfit_ = misfit(x_, 0, scatter_);
}

void GroupChain::sweep(const VectorXd& middle, const VectorXd& deviation, double discrepancy,
                       Dice& dice, bool learning) {
  for (std::size_t a = 0; a < walkers_.size(); ++a) {
    VectorXd moved = x_;
    moved[at(a)] += walkers_[a].step * dice.normal();
    const bool taken = try_values(moved, middle, deviation, dice);
    if (learning) walkers_[a].learn(taken);
  }
  move_together(middle, deviation, discrepancy, dice, learning);
  move_shift(discrepancy, dice, learning);
  move_scatter(dice, learning);
}

VectorXd GroupChain::bounded(const VectorXd& x) const {
  return group_.most.size() > 0 ? VectorXd(x.cwiseMin(group_.most)) : x;
}

double GroupChain::misfit(const VectorXd& x, double shift, double scatter) const {
  const VectorXd numbers = bounded(x).array().exp();
  const VectorXd times =
      group_.compute + std::exp(shift) * (group_.physics - group_.compute + group_.gain * numbers);
  VectorXd errors = group_.measured - times.array().log().matrix();
  if (group_.share.size() > 0) errors = errors.cwiseQuotient(group_.share);
  if (group_.apart.size() > 0) errors = group_.apart.triangularView<Eigen::Lower>() * errors;
  return 0.5 * (kDegrees + 1) * log_of_product(1 + (errors / scatter).array().square() / kDegrees) +
         static_cast<double>(times.size()) * std::log(scatter);
}

double GroupChain::penalty(double deviations) const {
  const double degrees = options_.degrees;
  if (std::isinf(degrees)) return 0.5 * square(deviations);
  return 0.5 * (degrees + 1) * std::log1p(square(deviations) / degrees);
}

double GroupChain::far(const VectorXd& x, const VectorXd& middle, const VectorXd& deviation) const {
  double sum = 0;
  for (std::size_t a = 0; a < walkers_.size(); ++a) {
    const Eigen::Index k = at(group_.terms[a]);
    sum += penalty((x[at(a)] - middle[k]) / deviation[k]);
  }
  return sum;
}

bool GroupChain::try_values(const VectorXd& moved, const VectorXd& middle,
                            const VectorXd& deviation, Dice& dice) {
  const double now = misfit(moved, shift_, scatter_);
  const bool taken =
      dice.takes(misfit_ - now + far(x_, middle, deviation) - far(moved, middle, deviation));
  if (taken) {
    x_ = moved;
    misfit_ = now;
  }
  return taken;
}

/// Along the difference of two earlier states: terms that runs can hardly tell apart move as one
/// (differential evolution; ter Braak and Vrugt 2008).
void GroupChain::move_together(const VectorXd& middle, const VectorXd& deviation,
                               double discrepancy, Dice& dice, bool learning) {
  constexpr std::size_t kFew = 20;
  const bool with_shift = options_.shift_with_terms;
  if (past_.size() > kFew && x_.size() + (with_shift ? 1 : 0) > 1) {
    const std::size_t one = dice.below(past_.size());
    const std::size_t other = dice.below(past_.size());
    const auto moving = static_cast<double>(x_.size() + (with_shift ? 1 : 0));
    const double length = 2.38 / std::sqrt(2 * moving);
    VectorXd moved = x_ + length * (past_[one] - past_[other]);
    for (Eigen::Index i = 0; i < moved.size(); ++i) moved[i] += 1e-3 * dice.normal();
    if (with_shift)
      try_all(moved,
              shift_ + length * (past_shifts_[one] - past_shifts_[other]) + 1e-4 * dice.normal(),
              middle, deviation, discrepancy, dice);
    else
      try_values(moved, middle, deviation, dice);
  }
  // The archive stands still once the chain is believed.
  constexpr int kEach = 10;
  if (learning && ++since_ % kEach == 0) {
    past_.push_back(x_);
    past_shifts_.push_back(shift_);
  }
}

void GroupChain::try_all(const VectorXd& moved, double moved_shift, const VectorXd& middle,
                         const VectorXd& deviation, double discrepancy, Dice& dice) {
  const double now = misfit(moved, moved_shift, scatter_);
  const double before = far(x_, middle, deviation) + penalty(shift_ / discrepancy);
  const double after = far(moved, middle, deviation) + penalty(moved_shift / discrepancy);
  if (!dice.takes(misfit_ - now + before - after)) return;
  x_ = moved;
  shift_ = moved_shift;
  misfit_ = now;
}

void GroupChain::move_shift(double discrepancy, Dice& dice, bool learning) {
  const double moved = shift_ + shift_walker_.step * dice.normal();
  const double now = misfit(x_, moved, scatter_);
  const bool taken =
      dice.takes(misfit_ - now + (penalty(shift_ / discrepancy) - penalty(moved / discrepancy)));
  if (taken) {
    shift_ = moved;
    misfit_ = now;
  }
  if (learning) shift_walker_.learn(taken);
}

double GroupChain::log_scatter_prior(double scatter) const {
  if (options_.scatter_deviation == 0) return log_half_normal(scatter, options_.scatter);
  return -0.5 * square(std::log(scatter / options_.scatter) / options_.scatter_deviation);
}

void GroupChain::move_scatter(Dice& dice, bool learning) {
  const double moved = scatter_ * std::exp(scatter_walker_.step * dice.normal());
  const double now = misfit(x_, shift_, moved);
  const bool taken =
      dice.takes(misfit_ - now + log_scatter_prior(moved) - log_scatter_prior(scatter_));
  if (taken) {
    scatter_ = moved;
    misfit_ = now;
  }
  if (learning) scatter_walker_.learn(taken);
}

}  // namespace gradcast
