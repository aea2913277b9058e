// Adds up the slices of a timeline: where the time of an iteration goes.
#pragma once
#include <string>

#include "sim/engine/iteration_result.hpp"
#include "sim/timeline/chrome_trace.hpp"

namespace gradcast {

/// The result that `summarize` gives for the rank, found from the file alone: from the lanes
/// "compute", "codec", "network" and "network n" of a process, and the phases and parts of their
/// slices. It agrees to a nanosecond per slice. Engine, flows and `lost` are left empty. Throws
/// ValueError if the process has no lane "compute".
IterationResult parts_of(const ChromeTrace& trace, const std::string& process);

/// The total time of slices marked "exposed": communication during which nothing was computed.
Seconds marked_exposed(const ChromeTrace& trace, const std::string& process);

}  // namespace gradcast
