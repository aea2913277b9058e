// The files of software stacks that a population fit gives, with the schedule that each stack runs
// by itself: known from its documentation, not estimated.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/fit/fitted_files.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/plan/stack.hpp"
#include "sim/population/posterior.hpp"

namespace gradcast {

/// By stack.
using UsualSchedules = std::map<std::string, UsualSchedule>;

/// Reads `traces/stack-schedules.csv`: stack,fusion,overlap,source. Throws DataError.
UsualSchedules load_usual_schedules(const TextFile& file);
UsualSchedules load_usual_schedules(DataFiles& files);

/// `platforms/stack-<name>.csv` of each stack that was measured, with what its runs have seen, and
/// of the population.
std::vector<FittedFile> stack_files(const PopulationFit& fit,
                                    const std::vector<SourceGroup>& groups,
                                    const UsualSchedules& schedules);

}  // namespace gradcast
