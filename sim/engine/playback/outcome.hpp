// What came of the jobs.
#pragma once
#include <string>
#include <vector>

#include "sim/engine/playback/job.hpp"

namespace gradcast {

/// What in the world stops somebody for ever; empty: nothing.
std::vector<std::string> dead_ends(const World& world);

/// The record of the first of equal jobs, but for engine and flows. Where it is not done, `lost`
/// says what never ended and what in the world is to blame; throws std::logic_error, a deadlock,
/// where nothing is.
RunRecord record_of(Job& job, const RankClasses& ranks, const World& world);

}  // namespace gradcast
