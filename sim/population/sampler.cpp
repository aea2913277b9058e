#include "sim/population/sampler.hpp"

#include <cmath>
#include <limits>

#include "sim/fit/least_squares.hpp"
#include "sim/population/dice.hpp"

namespace gradcast {
namespace {

using Eigen::VectorXd;

constexpr double kDegrees = 4;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A number that is moved by random steps, which learn their length while the chain burns in.
struct Walker {
  double step = 0.5;
  void learn(bool taken) { step *= taken ? 1.08 : 0.96; }  // in balance at a third taken
};

double square(double value) { return value * value; }

/// Of a half-normal of this scale, in the logarithm of its value.
double log_half_normal(double value, double scale) {
  return -0.5 * square(value / scale) + std::log(value);
}

class GroupChain {
 public:
  GroupChain(const LinearGroup& group, const StackPriors& priors)
      : group_(group), priors_(priors), x_(group.about), walkers_(group.terms.size()) {
    misfit_ = misfit(x_, 0, scatter_);
  }

  const VectorXd& x() const { return x_; }
  double misfit() const { return misfit_; }
  double misfit_at(const VectorXd& x) const { return misfit(x, shift_, scatter_); }
  void set(const VectorXd& x, double its_misfit) {
    x_ = x;
    misfit_ = its_misfit;
  }
  double shift() const { return shift_; }
  double scatter() const { return scatter_; }
  const LinearGroup& group() const { return group_; }

  /// `middle`, `deviation`: of its stack, by term of the priors.
  void sweep(const VectorXd& middle, const VectorXd& deviation, double discrepancy, Dice& dice,
             bool learning) {
    for (std::size_t a = 0; a < walkers_.size(); ++a) {
      VectorXd moved = x_;
      moved[at(a)] += walkers_[a].step * dice.normal();
      const bool taken = try_values(moved, middle, deviation, dice);
      if (learning) walkers_[a].learn(taken);
    }
    move_together(middle, deviation, dice, learning);
    move_shift(discrepancy, dice, learning);
    move_scatter(dice, learning);
  }

 private:
  /// Minus the logarithm of the likelihood.
  double misfit(const VectorXd& x, double shift, double scatter) const {
    const VectorXd numbers = x.array().exp();
    const VectorXd times = group_.physics + group_.gain * numbers;
    double sum = 0;
    for (Eigen::Index i = 0; i < times.size(); ++i)
      sum += 0.5 * (kDegrees + 1) *
             std::log1p(square((group_.measured[i] - std::log(times[i]) - shift) / scatter) /
                        kDegrees);
    return sum + static_cast<double>(times.size()) * std::log(scatter);
  }

  double far(const VectorXd& x, const VectorXd& middle, const VectorXd& deviation) const {
    double sum = 0;
    for (std::size_t a = 0; a < walkers_.size(); ++a) {
      const Eigen::Index k = at(group_.terms[a]);
      sum += 0.5 * square((x[at(a)] - middle[k]) / deviation[k]);
    }
    return sum;
  }

  bool try_values(const VectorXd& moved, const VectorXd& middle, const VectorXd& deviation,
                  Dice& dice) {
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
  void move_together(const VectorXd& middle, const VectorXd& deviation, Dice& dice, bool learning) {
    constexpr std::size_t kFew = 20;
    if (past_.size() > kFew && x_.size() > 1) {
      const VectorXd& one = past_[dice.below(past_.size())];
      const VectorXd& other = past_[dice.below(past_.size())];
      const double length = 2.38 / std::sqrt(2.0 * static_cast<double>(x_.size()));
      VectorXd moved = x_ + length * (one - other);
      for (Eigen::Index i = 0; i < moved.size(); ++i) moved[i] += 1e-3 * dice.normal();
      try_values(moved, middle, deviation, dice);
    }
    // The archive stands still once the chain is believed.
    constexpr int kEach = 10;
    if (learning && ++since_ % kEach == 0) past_.push_back(x_);
  }

  void move_shift(double discrepancy, Dice& dice, bool learning) {
    const double moved = shift_ + shift_walker_.step * dice.normal();
    const double now = misfit(x_, moved, scatter_);
    const bool taken = dice.takes(
        misfit_ - now + 0.5 * (square(shift_ / discrepancy) - square(moved / discrepancy)));
    if (taken) {
      shift_ = moved;
      misfit_ = now;
    }
    if (learning) shift_walker_.learn(taken);
  }

  void move_scatter(Dice& dice, bool learning) {
    const double moved = scatter_ * std::exp(scatter_walker_.step * dice.normal());
    const double now = misfit(x_, shift_, moved);
    const bool taken = dice.takes(misfit_ - now + log_half_normal(moved, priors_.scatter) -
                                  log_half_normal(scatter_, priors_.scatter));
    if (taken) {
      scatter_ = moved;
      misfit_ = now;
    }
    if (learning) scatter_walker_.learn(taken);
  }

  const LinearGroup& group_;
  const StackPriors& priors_;
  VectorXd x_;
  double shift_ = 0;
  double scatter_ = 0.1;
  double misfit_ = 0;
  std::vector<Walker> walkers_;
  Walker shift_walker_;
  Walker scatter_walker_;
  std::vector<VectorXd> past_;
  int since_ = 0;
};

class Chain {
 public:
  Chain(const std::vector<LinearGroup>& groups, std::size_t stacks, const StackPriors& priors,
        std::uint64_t seed)
      : priors_(priors),
        dice_(seed),
        between_walkers_(priors.terms.size()),
        stretch_walkers_(priors.terms.size()) {
    for (const LinearGroup& group : groups) chains_.emplace_back(group, priors);
    const Eigen::Index terms = at(priors.terms.size());
    middle_ = between_ = VectorXd(terms);
    for (std::size_t k = 0; k < priors.terms.size(); ++k) {
      middle_[at(k)] = std::log(priors.terms[k].median);
      between_[at(k)] = priors.terms[k].between;
    }
    stacks_.assign(stacks, middle_);
    has_.assign(stacks, std::vector<bool>(priors.terms.size(), false));
    for (const LinearGroup& group : groups)
      for (const std::size_t k : group.terms) has_[group.stack][k] = true;
  }

  void sweep(bool learning) {
    const VectorXd within = between_ * std::sqrt(1 - kShareOfStacks);
    for (GroupChain& chain : chains_)
      chain.sweep(stacks_[chain.group().stack], within, discrepancy_, dice_, learning);
    for (std::size_t k = 0; k < priors_.terms.size(); ++k) {
      draw_stacks(k);
      draw_middle(k);
      move_between(k, learning);
      stretch(k, learning);
    }
    move_discrepancy(learning);
  }

  PopulationDraw draw() const {
    PopulationDraw draw{middle_, between_, {}, {}, discrepancy_, {}};
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      draw.stacks.push_back(stacks_[s]);
      for (std::size_t k = 0; k < priors_.terms.size(); ++k)
        if (!has_[s][k]) draw.stacks.back()[at(k)] = kNone;
    }
    for (const GroupChain& chain : chains_) {
      VectorXd values = VectorXd::Constant(middle_.size(), kNone);
      for (std::size_t a = 0; a < chain.group().terms.size(); ++a)
        values[at(chain.group().terms[a])] = chain.x()[at(a)];
      draw.groups.push_back(std::move(values));
      draw.scatter.push_back(chain.scatter());
    }
    return draw;
  }

 private:
  /// Of a mean of normals that are known, and its own normal.
  double normal_mean(double sum, double count, double variance, double prior,
                     double prior_variance) {
    const double precision = count / variance + 1 / prior_variance;
    const double mean = (sum / variance + prior / prior_variance) / precision;
    return mean + dice_.normal() / std::sqrt(precision);
  }

  void draw_stacks(std::size_t k) {
    const double variance = square(between_[at(k)]);
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      if (!has_[s][k]) continue;
      double sum = 0;
      double count = 0;
      for (const GroupChain& chain : chains_)
        for (std::size_t a = 0; a < chain.group().terms.size(); ++a)
          if (chain.group().stack == s && chain.group().terms[a] == k) {
            sum += chain.x()[at(a)];
            ++count;
          }
      stacks_[s][at(k)] = normal_mean(sum, count, variance * (1 - kShareOfStacks), middle_[at(k)],
                                      variance * kShareOfStacks);
    }
  }

  void draw_middle(std::size_t k) {
    double sum = 0;
    double count = 0;
    for (std::size_t s = 0; s < stacks_.size(); ++s)
      if (has_[s][k]) {
        sum += stacks_[s][at(k)];
        ++count;
      }
    const TermPrior& prior = priors_.terms[k];
    middle_[at(k)] = normal_mean(sum, count, square(between_[at(k)]) * kShareOfStacks,
                                 std::log(prior.median), square(prior.spread));
  }

  void move_between(std::size_t k, bool learning) {
    const auto log_density = [&](double between) {
      const double stacks = square(between) * kShareOfStacks;
      const double within = square(between) * (1 - kShareOfStacks);
      double sum = log_half_normal(between, priors_.terms[k].between);
      for (std::size_t s = 0; s < stacks_.size(); ++s)
        if (has_[s][k])
          sum -= 0.5 * (square(stacks_[s][at(k)] - middle_[at(k)]) / stacks + std::log(stacks));
      for (const GroupChain& chain : chains_)
        for (std::size_t a = 0; a < chain.group().terms.size(); ++a)
          if (chain.group().terms[a] == k)
            sum -= 0.5 * (square(chain.x()[at(a)] - stacks_[chain.group().stack][at(k)]) / within +
                          std::log(within));
      return sum;
    };
    Walker& walker = between_walkers_[k];
    const double moved = between_[at(k)] * std::exp(walker.step * dice_.normal());
    const bool taken = dice_.takes(log_density(moved) - log_density(between_[at(k)]));
    if (taken) between_[at(k)] = moved;
    if (learning) walker.learn(taken);
  }

  /// Moves the spread and all that lies apart by it together, so that a chain in which all have
  /// come to agree finds out again (interweaving; Yu and Meng 2011). Steps of the spread alone
  /// would stay near 0 for ever, and intervals would be too narrow.
  void stretch(std::size_t k, bool learning) {
    Walker& walker = stretch_walkers_[k];
    const double factor = std::exp(walker.step * dice_.normal());
    const double between = between_[at(k)];
    std::vector<VectorXd> stacks = stacks_;
    for (std::size_t s = 0; s < stacks.size(); ++s)
      stacks[s][at(k)] = middle_[at(k)] + factor * (stacks_[s][at(k)] - middle_[at(k)]);
    double ratio = log_half_normal(between * factor, priors_.terms[k].between) -
                   log_half_normal(between, priors_.terms[k].between);
    std::vector<VectorXd> values;
    std::vector<double> misfits;
    for (const GroupChain& chain : chains_) {
      VectorXd x = chain.x();
      const std::size_t s = chain.group().stack;
      for (std::size_t a = 0; a < chain.group().terms.size(); ++a)
        if (chain.group().terms[a] == k)
          x[at(a)] = stacks[s][at(k)] + factor * (x[at(a)] - stacks_[s][at(k)]);
      misfits.push_back(x == chain.x() ? chain.misfit() : chain.misfit_at(x));
      ratio += chain.misfit() - misfits.back();
      values.push_back(std::move(x));
    }
    const bool taken = dice_.takes(ratio);
    if (taken) {
      between_[at(k)] *= factor;
      stacks_ = std::move(stacks);
      for (std::size_t g = 0; g < chains_.size(); ++g) chains_[g].set(values[g], misfits[g]);
    }
    if (learning) walker.learn(taken);
  }

  void move_discrepancy(bool learning) {
    const auto log_density = [&](double discrepancy) {
      double sum = log_half_normal(discrepancy, priors_.discrepancy);
      for (const GroupChain& chain : chains_)
        sum -= 0.5 * square(chain.shift() / discrepancy) + std::log(discrepancy);
      return sum;
    };
    const double moved = discrepancy_ * std::exp(discrepancy_walker_.step * dice_.normal());
    const bool taken = dice_.takes(log_density(moved) - log_density(discrepancy_));
    if (taken) discrepancy_ = moved;
    if (learning) discrepancy_walker_.learn(taken);
  }

  const StackPriors& priors_;
  Dice dice_;
  std::vector<GroupChain> chains_;
  VectorXd middle_;
  VectorXd between_;
  std::vector<VectorXd> stacks_;
  std::vector<std::vector<bool>> has_;  // by stack, by term
  double discrepancy_ = 0.1;
  std::vector<Walker> between_walkers_;
  std::vector<Walker> stretch_walkers_;
  Walker discrepancy_walker_;
};

}  // namespace

std::vector<PopulationDraw> sample_population(const std::vector<LinearGroup>& groups,
                                              std::size_t stacks, const StackPriors& priors,
                                              const SamplerOptions& options) {
  Chain chain(groups, stacks, priors, options.seed);
  for (int i = 0; i < options.burn_in; ++i) chain.sweep(true);
  std::vector<PopulationDraw> draws;
  for (int i = 0; i < options.sweeps; ++i) {
    chain.sweep(false);
    if (i % options.thin == 0) draws.push_back(chain.draw());
  }
  return draws;
}

}  // namespace gradcast
