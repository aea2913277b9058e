#include "sim/population/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

/// The share of a transport's stacks that have a mechanism. Where none of them was measured, the
/// name says it.
double share_with(const TermPrior& prior, const std::vector<std::string>& stacks,
                  const std::string& population) {
  double all = 0;
  double having = 0;
  for (const std::string& stack : stacks)
    if (transport_of(stack) == transport_of(population)) {
      ++all;
      having += prior.holds_for(stack) ? 1 : 0;
    }
  return all > 0 ? having / all : prior.holds_for(population) ? 1 : 0;
}

/// A row of the priors, and the share of stacks that have it.
struct PriorShare {
  std::size_t row = 0;
  double share = 0;
};

/// Whether two rows are of one term, which each stack has by one of them.
bool same_term(const TermPrior& one, const TermPrior& other) {
  return one.quantity == other.quantity && one.compressor == other.compressor &&
         one.implementation == other.implementation;
}

/// The rows by which a stack has the term of row k. A population has it by several; they are told
/// at the first of them.
std::vector<PriorShare> shares_of(const PopulationFit& fit, const std::string& name,
                                  std::size_t k) {
  const std::vector<TermPrior>& terms = fit.priors->terms;
  if (!is_population(name)) return {{k, terms[k].holds_for(name) ? 1.0 : 0.0}};
  std::vector<PriorShare> shares;
  for (std::size_t row = 0; row < terms.size(); ++row) {
    if (!same_term(terms[row], terms[k])) continue;
    const double share = share_with(terms[row], fit.stacks, name);
    if (share > 0) shares.push_back({row, share});
  }
  if (!shares.empty() && shares.front().row != k) shares.clear();
  return shares;
}

/// One of them, by their shares.
std::size_t drawn_of(const std::vector<PriorShare>& shares, double all, Dice& dice) {
  if (shares.size() == 1) return shares.front().row;
  double left = all * dice.uniform();
  for (const PriorShare& share : shares)
    if ((left -= share.share) <= 0) return share.row;
  return shares.back().row;
}

}  // namespace

bool is_population(const std::string& stack) { return stack.starts_with("population"); }

PopulationFit fit_population(const std::vector<const SourceGroup*>& groups,
                             const StackPriors& priors, std::uint64_t seed) {
  PopulationFit fit{&priors, stacks_of(groups), {}};
  for (const SourceGroup* group : groups) fit.transports.push_back(transport_of(group->stack));
  std::vector<VectorXd> about(groups.size(), logs_of(priors));
  std::vector<const ScenarioQuantity*> quantities;
  for (const TermPrior& prior : priors.terms) quantities.push_back(prior.quantity);
  std::vector<std::vector<LinearRow>> rows;
  for (const SourceGroup* group : groups) rows.push_back(rows_of(*group, priors));
  std::vector<LinearRows> pieces;
  for (const std::vector<LinearRow>& its : rows) pieces.emplace_back(its, quantities);
  // The first chain is long, too: the second piece lies at its medians.
  for (const SamplerOptions& options :
       {SamplerOptions{2000, 12000, 8, seed}, SamplerOptions{4000, 24000, 8, seed}}) {
    std::vector<LinearGroup> linear;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      pieces[g].add(about[g]);
      linear.push_back(pieces[g].group());
      linear.back().stack = place_of(fit.stacks, groups[g]->stack);
      linear.back().transport = transport_of(groups[g]->stack);
    }
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
    const std::vector<PriorShare> shares = shares_of(fit, name, k);
    double presence = 0;
    for (const PriorShare& share : shares) presence += share.share;
    if (presence == 0) continue;
    std::vector<double> logs;
    for (const PopulationDraw& draw : fit.draws) {
      const std::size_t row = drawn_of(shares, presence, dice);
      double value = measured < fit.stacks.size() ? draw.stacks[measured][at(row)] : std::nan("");
      if (std::isnan(value))
        value = draw.middle[at(row)] + draw.between_stacks[at(row)] * dice.normal();
      logs.push_back(std::min(value + draw.between_clusters[at(row)] * dice.normal(),
                              std::log(prior.quantity->most)));
    }
    stack.terms.push_back({prior.quantity,
                           prior.compressor,
                           std::exp(median(logs)),
                           deviation_of(logs),
                           std::min(1.0, presence),
                           "",
                           {}});
    stack.terms.back().implementation = prior.implementation;
    stack.terms.back().seen = seen_of(stack.terms.back(), prior, name, groups);
  }
  // A run's own scatter: that of one of its transport's groups, by Student's t of 4 degrees.
  const Transport transport = transport_of(name);
  std::vector<std::size_t> alike;
  for (std::size_t g = 0; g < fit.transports.size(); ++g)
    if (fit.transports[g] == transport) alike.push_back(g);
  if (alike.empty()) {
    alike.resize(fit.transports.size());
    std::iota(alike.begin(), alike.end(), std::size_t{0});
  }
  std::vector<double> discrepancy;
  std::vector<double> scatter;
  for (const PopulationDraw& draw : fit.draws) {
    discrepancy.push_back(draw.discrepancy[static_cast<std::size_t>(transport)] * dice.normal());
    scatter.push_back(draw.scatter[alike[dice.below(alike.size())]] *
                      t_quantile(dice.uniform(), 4));
  }
  stack.discrepancy = deviation_of(discrepancy);
  stack.scatter = deviation_of(scatter);
  return stack;
}

}  // namespace gradcast
