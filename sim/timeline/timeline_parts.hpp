// Where an iteration's time goes, added up from a timeline's slices.
#pragma once
#include <string>

#include "sim/engine/iteration_result.hpp"
#include "sim/timeline/chrome_trace.hpp"

namespace gradcast {

/// As `summarize` has it of the rank's record, from nothing but the file: lanes "compute", "codec",
/// "network" and "network n" of a process, phases and parts of their slices. To a nanosecond a
/// slice. Engine, flows and `lost` are left empty. Throws ValueError where the process has no lane
/// "compute".
IterationResult parts_of(const ChromeTrace& trace, const std::string& process);

/// The time that slices marked "exposed" take: communication during which nothing was computed.
Seconds marked_exposed(const ChromeTrace& trace, const std::string& process);

}  // namespace gradcast
