// The files of software stacks that a population fit gives.
#pragma once
#include <string>
#include <vector>

#include "sim/fit/fitted_files.hpp"
#include "sim/population/posterior.hpp"
#include "sim/population/usual_schedules.hpp"

namespace gradcast {

/// `platforms/stack-<name>.csv` of each stack that was measured, with what its runs have seen, and
/// of the population.
std::vector<FittedFile> stack_files(const PopulationFit& fit,
                                    const std::vector<SourceGroup>& groups,
                                    const UsualSchedules& schedules);

}  // namespace gradcast
