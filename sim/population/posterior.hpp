// Software stacks as measured runs describe them: each that was measured, and those that were not.
#pragma once
#include <string>
#include <vector>

#include "sim/plan/stack.hpp"
#include "sim/population/sampler.hpp"

namespace gradcast {

struct PopulationFit {
  const StackPriors* priors = nullptr;
  std::vector<std::string> stacks;  // that were measured
  std::vector<PopulationDraw> draws;
  std::vector<Transport> transports{};  // by group
};

/// Estimates all from these groups. Their runs are linear about the priors, and in a second pass
/// about what came out as well.
PopulationFit fit_population(const std::vector<const SourceGroup*>& groups,
                             const StackPriors& priors, std::uint64_t seed);

bool is_population(const std::string& stack);

/// The stack of a name on a cluster that was not measured. Where the stack was not measured either,
/// it is what the population of its transport says of a stack with its mechanisms. Each term is a
/// lognormal with the median of the draws and tails as SoftwareSpread draws them, and knows under
/// which conditions these groups, those of the fit, saw it.
Stack predicted_stack(const PopulationFit& fit, const std::string& name,
                      const std::vector<const SourceGroup*>& groups);

}  // namespace gradcast
