// Markov chain Monte Carlo over software stacks: the values of each group, of the stacks behind
// them, of the population behind those, and the spreads between, all at once.
#pragma once
#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/population/linear_rows.hpp"

namespace gradcast {

/// One draw. Values are logarithms of numbers, by term of the priors; NaN where a group or stack
/// has no such term.
struct PopulationDraw {
  Eigen::VectorXd middle;                         // of the population
  Eigen::VectorXd between_stacks;                 // standard deviation, about the middle
  Eigen::VectorXd between_clusters;               // standard deviation of groups, about their stack
  std::vector<Eigen::VectorXd> stacks;            // by stack
  std::vector<Eigen::VectorXd> groups;            // by group
  std::array<double, kTransports> discrepancy{};  // standard deviation between groups
  std::vector<double> scatter;                    // of a run, by group
};

struct SamplerOptions {
  int burn_in = 3000;  // sweeps
  int sweeps = 12000;
  int thin = 8;
  std::uint64_t seed = 1;
};

/// The model: log(measured) = log(compute + exp(d) (the largest of base + sum of gain x exp(x) over
/// the pieces - compute)) + e. Compute was measured, so that d is how far a cluster's communication
/// and software are off. x of a group is normal about its stack's, and that about the population's:
/// how far clusters of a stack lie apart, and how far stacks do, are two numbers, each half-normal.
/// The population's x is normal about the prior's. d of a group is normal, with a scale of its
/// transport; e of a run is Student's t of 4 degrees, with a scale of its group; both scales are
/// half-normal.
std::vector<PopulationDraw> sample_population(const std::vector<LinearGroup>& groups,
                                              std::size_t stacks, const StackPriors& priors,
                                              const SamplerOptions& options);

}  // namespace gradcast
