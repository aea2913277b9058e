#include "sim/population/posterior.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/statistics.hpp"
#include "sim/fit/least_squares.hpp"
#include "sim/forecast/software_spread.hpp"
#include "sim/population/dice.hpp"
#include "sim/population/seen.hpp"

namespace gradcast {
namespace {

using Eigen::VectorXd;

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

std::vector<std::string> stacks_of(const std::vector<const SourceGroup*>& groups) {
  std::vector<std::string> stacks;
  for (const SourceGroup* group : groups)
    if (place_of(stacks, group->stack) == stacks.size()) stacks.push_back(group->stack);
  return stacks;
}

VectorXd logs_of(const StackPriors& priors) {
  VectorXd logs(at(priors.terms.size()));
  for (std::size_t k = 0; k < priors.terms.size(); ++k)
    logs[at(k)] = std::log(priors.terms[k].median);
  return logs;
}

double quantile(std::vector<double> values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

/// The deviation with which Student's t of SoftwareSpread has the same 5th and 95th percentile.
double deviation_of(const std::vector<double>& logs) {
  return (quantile(logs, 0.95) - quantile(logs, 0.05)) / 2 / t_quantile(0.95, kSpreadDegrees);
}

double share_with(const TermPrior& prior, const std::vector<std::string>& stacks) {
  const auto has = [&](const std::string& stack) { return prior.holds_for(stack); };
  return static_cast<double>(std::count_if(stacks.begin(), stacks.end(), has)) /
         static_cast<double>(stacks.size());
}

}  // namespace

PopulationFit fit_population(const std::vector<const SourceGroup*>& groups,
                             const StackPriors& priors, std::uint64_t seed) {
  PopulationFit fit{&priors, stacks_of(groups), {}};
  std::vector<VectorXd> about(groups.size(), logs_of(priors));
  for (const SamplerOptions& options :
       {SamplerOptions{1500, 3000, 10, seed}, SamplerOptions{4000, 24000, 16, seed}}) {
    std::vector<LinearGroup> linear;
    for (std::size_t g = 0; g < groups.size(); ++g)
      linear.push_back(
          linear_group(*groups[g], place_of(fit.stacks, groups[g]->stack), priors, about[g]));
    fit.draws = sample_population(linear, fit.stacks.size(), priors, options);
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const std::size_t k : linear[g].terms) {
        std::vector<double> values;
        for (const PopulationDraw& draw : fit.draws) values.push_back(draw.groups[g][at(k)]);
        about[g][at(k)] = median(std::move(values));
      }
  }
  return fit;
}

Stack predicted_stack(const PopulationFit& fit, const std::string& name,
                      const std::vector<const SourceGroup*>& groups) {
  Stack stack;
  stack.name = name;
  Dice dice(1);
  const std::size_t measured = place_of(fit.stacks, name);
  for (std::size_t k = 0; k < fit.priors->terms.size(); ++k) {
    const TermPrior& prior = fit.priors->terms[k];
    // Of a stack that nobody named, some have the mechanism.
    const double presence = name == kPopulationName ? share_with(prior, fit.stacks)
                            : prior.holds_for(name) ? 1
                                                    : 0;
    if (presence == 0) continue;
    std::vector<double> logs;
    for (const PopulationDraw& draw : fit.draws) {
      const double between = draw.between[at(k)];
      double value = measured < fit.stacks.size() ? draw.stacks[measured][at(k)] : std::nan("");
      if (std::isnan(value))
        value = draw.middle[at(k)] + std::sqrt(kShareOfStacks) * between * dice.normal();
      logs.push_back(value + std::sqrt(1 - kShareOfStacks) * between * dice.normal());
    }
    stack.terms.push_back({prior.quantity,
                           prior.compressor,
                           std::exp(median(logs)),
                           deviation_of(logs),
                           presence,
                           "",
                           {}});
    stack.terms.back().seen = seen_of(stack.terms.back(), prior, name, groups);
  }
  std::vector<double> discrepancy;
  std::vector<double> scatter;
  for (const PopulationDraw& draw : fit.draws) {
    discrepancy.push_back(draw.discrepancy * dice.normal());
    // A run's own scatter: that of one of the groups, by Student's t of 4 degrees.
    const auto group = dice.below(draw.scatter.size());
    scatter.push_back(draw.scatter[group] * t_quantile(dice.uniform(), 4));
  }
  stack.discrepancy = deviation_of(discrepancy);
  stack.scatter = deviation_of(scatter);
  return stack;
}

}  // namespace gradcast
