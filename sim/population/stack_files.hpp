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
#include "sim/population/known_terms.hpp"
#include "sim/population/posterior.hpp"

namespace gradcast {

/// Facts about a stack that are known without a measurement.
struct ListedStack {
  UsualSchedule schedule;
  /// A measured stack whose costs it has, such as that of an older version; "": its own or, where
  /// nobody measured it, the population's.
  std::string like;
  std::string file{};
  std::size_t line = 0;  // of the file
};

/// Listed stacks by name.
using UsualSchedules = std::map<std::string, ListedStack>;

/// Reads `traces/stack-schedules.csv`: stack,fusion,overlap,source and optionally like. Throws
/// DataError.
UsualSchedules load_usual_schedules(const TextFile& file);
UsualSchedules load_usual_schedules(DataFiles& files);

/// `platforms/stack-<name>.csv` of each stack that was measured, with what its runs have seen, of
/// each other stack whose schedule is known, with what is known of its terms, and of the
/// populations of NCCL and MPI. Throws DataError if a stack is like one that nobody measured, and
/// for a known term of stacks that there are not.
std::vector<FittedFile> stack_files(const PopulationFit& fit,
                                    const std::vector<SourceGroup>& groups,
                                    const UsualSchedules& schedules,
                                    const std::vector<KnownTerm>& known = {});

/// `platforms/stack-<name>-without-<group>.csv`: the stack that forecasts a group's runs without
/// having seen them. `name` is the group's stack. If no other group has it, it is what a stack of
/// that name shares with others. `fit` is of the others.
FittedFile file_without(const PopulationFit& fit, const std::vector<const SourceGroup*>& others,
                        const SourceGroup& left_out, const UsualSchedules& schedules,
                        const std::vector<KnownTerm>& known);

}  // namespace gradcast
