// The schedule that each stack runs by itself: known from its documentation, not estimated.
#pragma once
#include <map>
#include <string>

#include "sim/base/text_file.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast {

/// By stack.
using UsualSchedules = std::map<std::string, UsualSchedule>;

/// Reads `traces/stack-schedules.csv`: stack,fusion,overlap,source. Throws DataError.
UsualSchedules load_usual_schedules(const TextFile& file);
UsualSchedules load_usual_schedules(DataFiles& files);

}  // namespace gradcast
