#include "sim/population/sampler.hpp"

#include <cmath>
#include <limits>

#include "sim/fit/least_squares.hpp"
#include "sim/population/dice.hpp"
#include "sim/population/group_chain.hpp"

namespace gradcast {
namespace {

using Eigen::VectorXd;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::size_t place(Transport transport) { return static_cast<std::size_t>(transport); }

/// A standard deviation that is sampled, and how it moves: alone, and with all that it scales.
struct Scale {
  double value = 0;
  double prior = 0;  // scale of its half-normal
  Walker alone{};
  Walker together{};
};

/// A term of a group, by its place in the group's list.
struct Place {
  std::size_t group = 0;
  std::size_t term = 0;
};

/// A step of a group: the new value of the term, or of the shift, and the misfit there.
struct Step {
  Place place;
  double value = 0;
  double misfit = 0;
};

class Chain {
 public:
  Chain(const std::vector<LinearGroup>& groups, std::size_t stacks, const StackPriors& priors,
        std::uint64_t seed)
      : priors_(priors), dice_(seed) {
    for (const LinearGroup& group : groups)
      chains_.emplace_back(group, GroupChainOptions{.scatter = priors.scatter});
    middle_ = VectorXd(at(priors.terms.size()));
    for (std::size_t k = 0; k < priors.terms.size(); ++k) {
      middle_[at(k)] = std::log(priors.terms[k].median);
      // Half of the variance is expected between stacks, half between clusters of one stack.
      const double half = priors.terms[k].between * std::sqrt(0.5);
      between_stacks_.push_back({half, half});
      between_clusters_.push_back({half, half});
    }
    population_walkers_.resize(priors.terms.size());
    stack_walkers_.assign(stacks, std::vector<Walker>(priors.terms.size()));
    discrepancies_.fill({priors.discrepancy, priors.discrepancy});
    stacks_.assign(stacks, middle_);
    has_.assign(stacks, std::vector<bool>(priors.terms.size(), false));
    with_.resize(priors.terms.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::size_t a = 0; a < groups[g].terms.size(); ++a) {
        has_[groups[g].stack][groups[g].terms[a]] = true;
        with_[groups[g].terms[a]].push_back({g, a});
      }
  }

  void sweep(bool learning) {
    const VectorXd within = values_of(between_clusters_);
    for (GroupChain& chain : chains_)
      chain.sweep(stacks_[chain.group().stack], within,
                  discrepancies_[place(chain.group().transport)].value, dice_, learning);
    for (std::size_t k = 0; k < priors_.terms.size(); ++k) {
      draw_stacks(k);
      draw_middle(k);
      move_alone(
          between_stacks_[k], [&](double scale) { return apart_of_stacks(k, scale); }, learning);
      move_alone(
          between_clusters_[k], [&](double scale) { return apart_of_clusters(k, scale); },
          learning);
      stretch_stacks(k, learning);
      stretch_clusters(k, learning);
      shift_population(k, learning);
      for (std::size_t i = 0; i < stacks_.size(); ++i)
        if (has_[i][k]) shift_stack(i, k, learning);
    }
    for (std::size_t t = 0; t < kTransports; ++t) {
      move_alone(
          discrepancies_[t], [&](double scale) { return apart_of_shifts(t, scale); }, learning);
      stretch_shifts(t, learning);
    }
  }

  PopulationDraw draw() const {
    PopulationDraw draw{
        middle_, values_of(between_stacks_), values_of(between_clusters_), {}, {}, {}, {}};
    for (std::size_t t = 0; t < kTransports; ++t) draw.discrepancy[t] = discrepancies_[t].value;
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      draw.stacks.push_back(stacks_[s]);
      for (std::size_t k = 0; k < priors_.terms.size(); ++k)
        if (!has_[s][k]) draw.stacks.back()[at(k)] = kNone;
    }
    for (const GroupChain& chain : chains_) {
      VectorXd values = VectorXd::Constant(middle_.size(), kNone);
      const VectorXd its = chain.bounded();
      for (std::size_t a = 0; a < chain.group().terms.size(); ++a)
        values[at(chain.group().terms[a])] = its[at(a)];
      draw.groups.push_back(std::move(values));
      draw.scatter.push_back(chain.scatter());
    }
    return draw;
  }

 private:
  static VectorXd values_of(const std::vector<Scale>& scales) {
    VectorXd values(at(scales.size()));
    for (std::size_t k = 0; k < scales.size(); ++k) values[at(k)] = scales[k].value;
    return values;
  }

  /// Calls `use(chain, place of the term in its group)` for each group that has the term.
  template <class Use>
  void each_with(std::size_t k, const Use& use) {
    for (const Place& its : with_[k]) use(chains_[its.group], its.term);
  }

  /// Draws the mean of normals whose values are known, given its own normal prior.
  double normal_mean(double sum, double count, double variance, double prior,
                     double prior_variance) {
    const double precision = count / variance + 1 / prior_variance;
    const double mean = (sum / variance + prior / prior_variance) / precision;
    return mean + dice_.normal() / std::sqrt(precision);
  }

  void draw_stacks(std::size_t k) {
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      if (!has_[s][k]) continue;
      double sum = 0;
      double count = 0;
      each_with(k, [&](const GroupChain& chain, std::size_t a) {
        if (chain.group().stack != s) return;
        sum += chain.x()[at(a)];
        ++count;
      });
      stacks_[s][at(k)] = normal_mean(sum, count, square(between_clusters_[k].value),
                                      middle_[at(k)], square(between_stacks_[k].value));
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
    middle_[at(k)] = normal_mean(sum, count, square(between_stacks_[k].value),
                                 std::log(prior.median), square(prior.spread));
  }

  /// Logarithms of the density of what a scale holds apart.
  double apart_of_stacks(std::size_t k, double scale) {
    double sum = 0;
    for (std::size_t s = 0; s < stacks_.size(); ++s)
      if (has_[s][k])
        sum -= 0.5 * square((stacks_[s][at(k)] - middle_[at(k)]) / scale) + std::log(scale);
    return sum;
  }
  double apart_of_clusters(std::size_t k, double scale) {
    double sum = 0;
    each_with(k, [&](const GroupChain& chain, std::size_t a) {
      const double far = chain.x()[at(a)] - stacks_[chain.group().stack][at(k)];
      sum -= 0.5 * square(far / scale) + std::log(scale);
    });
    return sum;
  }
  double apart_of_shifts(std::size_t transport, double scale) {
    double sum = 0;
    for (const GroupChain& chain : chains_)
      if (place(chain.group().transport) == transport)
        sum -= 0.5 * square(chain.shift() / scale) + std::log(scale);
    return sum;
  }

  template <class Apart>
  void move_alone(Scale& scale, const Apart& apart, bool learning) {
    const double moved = scale.value * std::exp(scale.alone.step * dice_.normal());
    const bool taken =
        dice_.takes(apart(moved) - apart(scale.value) + log_half_normal(moved, scale.prior) -
                    log_half_normal(scale.value, scale.prior));
    if (taken) scale.value = moved;
    if (learning) scale.alone.learn(taken);
  }

  // A scale and all that lies apart by it move together, so that a chain in which all have come to
  // agree finds out again (interweaving; Yu and Meng 2011). Steps of the scale alone would stay
  // near 0 for ever, and intervals would be too narrow. A middle moves together with all about it:
  // alone it goes as far as they lie apart, which may be hardly at all.

  /// The step that a scale takes, as a factor.
  double factor_of(const Scale& scale) { return std::exp(scale.together.step * dice_.normal()); }

  /// Stacks move away from the population's middle, and each stack's clusters with it.
  void stretch_stacks(std::size_t k, bool learning) {
    const double factor = factor_of(between_stacks_[k]);
    std::vector<double> moves(stacks_.size(), 0);
    for (std::size_t s = 0; s < stacks_.size(); ++s)
      if (has_[s][k]) moves[s] = (factor - 1) * (stacks_[s][at(k)] - middle_[at(k)]);
    const bool taken = stretch_groups(
        between_stacks_[k], factor, k,
        [&](const GroupChain& chain, std::size_t) { return moves[chain.group().stack]; }, learning);
    for (std::size_t s = 0; taken && s < stacks_.size(); ++s) stacks_[s][at(k)] += moves[s];
  }

  /// Clusters move away from their stack.
  void stretch_clusters(std::size_t k, bool learning) {
    const double factor = factor_of(between_clusters_[k]);
    stretch_groups(
        between_clusters_[k], factor, k,
        [&](const GroupChain& chain, std::size_t a) {
          return (factor - 1) * (chain.x()[at(a)] - stacks_[chain.group().stack][at(k)]);
        },
        learning);
  }

  /// Moves one term of each group by `move`, and returns whether the step was taken. `gain`: what
  /// it gains beside the groups' misfits.
  template <class Move>
  bool move_groups(std::size_t k, double gain, const Move& move) {
    steps_.clear();
    for (const Place& its : with_[k]) {
      const GroupChain& chain = chains_[its.group];
      const double by = move(chain, its.term);
      if (by == 0) continue;
      const double value = chain.x()[at(its.term)] + by;
      steps_.push_back({its, value, chain.misfit_at(its.term, value)});
      gain += chain.misfit() - steps_.back().misfit;
    }
    if (!dice_.takes(gain)) return false;
    for (const Step& step : steps_)
      chains_[step.place.group].set(step.place.term, step.value, step.misfit);
    return true;
  }

  /// A scale's prior gains this when the scale is stretched.
  static double gain_of_stretch(const Scale& scale, double factor) {
    return log_half_normal(scale.value * factor, scale.prior) -
           log_half_normal(scale.value, scale.prior);
  }

  static void stretch(Scale& scale, double factor, bool taken, bool learning) {
    if (taken) scale.value *= factor;
    if (learning) scale.together.learn(taken);
  }

  /// The same, with the scale that they lie apart by.
  template <class Move>
  bool stretch_groups(Scale& scale, double factor, std::size_t k, const Move& move, bool learning) {
    const bool taken = move_groups(k, gain_of_stretch(scale, factor), move);
    stretch(scale, factor, taken, learning);
    return taken;
  }

  /// A normal density of `far` deviations gains this, as a logarithm, when they become `moved`.
  static double gain_of_shift(double far, double moved) {
    return 0.5 * (square(far) - square(moved));
  }

  /// The population's middle moves, and all stacks and clusters with it.
  void shift_population(std::size_t k, bool learning) {
    const TermPrior& prior = priors_.terms[k];
    Walker& walker = population_walkers_[k];
    const double move = walker.step * dice_.normal();
    const double far = (middle_[at(k)] - std::log(prior.median)) / prior.spread;
    const double gain = gain_of_shift(far, far + move / prior.spread);
    const bool taken = move_groups(k, gain, [&](const GroupChain&, std::size_t) { return move; });
    if (taken) {
      middle_[at(k)] += move;
      for (std::size_t i = 0; i < stacks_.size(); ++i)
        if (has_[i][k]) stacks_[i][at(k)] += move;
    }
    if (learning) walker.learn(taken);
  }

  /// A stack moves, and its clusters with it.
  void shift_stack(std::size_t which, std::size_t k, bool learning) {
    Walker& walker = stack_walkers_[which][k];
    const double move = walker.step * dice_.normal();
    const double scale = between_stacks_[k].value;
    const double far = (stacks_[which][at(k)] - middle_[at(k)]) / scale;
    const double gain = gain_of_shift(far, far + move / scale);
    const bool taken = move_groups(k, gain, [&](const GroupChain& chain, std::size_t) {
      return chain.group().stack == which ? move : 0;
    });
    if (taken) stacks_[which][at(k)] += move;
    if (learning) walker.learn(taken);
  }

  /// Shifts of a transport's clusters, which terms do not explain, move away from 0.
  void stretch_shifts(std::size_t transport, bool learning) {
    Scale& scale = discrepancies_[transport];
    const double factor = factor_of(scale);
    double gain = gain_of_stretch(scale, factor);
    steps_.clear();
    for (std::size_t g = 0; g < chains_.size(); ++g) {
      const GroupChain& chain = chains_[g];
      if (place(chain.group().transport) != transport) continue;
      const double shift = factor * chain.shift();
      steps_.push_back({{g, 0}, shift, chain.misfit_shifted(shift)});
      gain += chain.misfit() - steps_.back().misfit;
    }
    const bool taken = dice_.takes(gain);
    stretch(scale, factor, taken, learning);
    if (!taken) return;
    for (const Step& step : steps_) chains_[step.place.group].set_shift(step.value, step.misfit);
  }

  const StackPriors& priors_;
  Dice dice_;
  std::vector<GroupChain> chains_;
  VectorXd middle_;
  std::vector<Walker> population_walkers_;          // by term
  std::vector<std::vector<Walker>> stack_walkers_;  // by stack, by term
  std::vector<Scale> between_stacks_;               // by term
  std::vector<Scale> between_clusters_;             // by term
  std::vector<VectorXd> stacks_;
  std::vector<std::vector<bool>> has_;    // by stack, by term
  std::vector<std::vector<Place>> with_;  // by term: groups that have it
  std::vector<Step> steps_;               // that are being tried
  std::array<Scale, kTransports> discrepancies_{};
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
