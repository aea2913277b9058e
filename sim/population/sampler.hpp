// Markov chain Monte Carlo over software stacks: the values of each group, of the stacks behind
// them, of the population behind those, and the spreads between, all at once.
#pragma once
#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "sim/population/linear_rows.hpp"

namespace gradcast {

/// One draw. Values are logarithms of numbers, by term of the priors; NaN where a group or stack
/// has no such term.
struct PopulationDraw {
  Eigen::VectorXd middle;               // of the population
  Eigen::VectorXd between;              // standard deviation between groups of the population
  std::vector<Eigen::VectorXd> stacks;  // by stack
  std::vector<Eigen::VectorXd> groups;  // by group
  double discrepancy = 0;               // standard deviation between groups
  std::vector<double> scatter;          // of a run, by group
};

/// Half of the variance between groups lies between stacks, half between clusters of one stack.
inline constexpr double kShareOfStacks = 0.5;

struct SamplerOptions {
  int burn_in = 3000;  // sweeps
  int sweeps = 12000;
  int thin = 8;
  std::uint64_t seed = 1;
};

/// The model: log(measured) = log(physics + sum of gain x exp(x)) + d + e. x of a group is normal
/// about its stack's, that about the population's, each with half of between squared; the
/// population's about the prior's; between is half-normal. d of a group is normal; e of a run is
/// Student's t of 4 degrees, with a scale of its group; both scales are half-normal.
std::vector<PopulationDraw> sample_population(const std::vector<LinearGroup>& groups,
                                              std::size_t stacks, const StackPriors& priors,
                                              const SamplerOptions& options);

}  // namespace gradcast
