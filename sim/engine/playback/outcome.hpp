// The results of played jobs.
#pragma once
#include <string>
#include <vector>

#include "sim/engine/playback/job.hpp"

namespace gradcast {

/// The events of the world that stop somebody for ever; empty where there are none.
std::vector<std::string> dead_ends(const World& world);

/// The record of the first of equal jobs, without engine and flows. If the job is not done, `lost`
/// says what never ended and which event of the world is to blame. If no event is, this is a
/// deadlock: throws std::logic_error.
RunRecord record_of(Job& job, const RankClasses& ranks, const World& world);

}  // namespace gradcast
