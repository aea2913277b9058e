// Says where compute times were not measured by anybody.
#pragma once
#include "sim/forecast/request.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

/// A line for a trace whose `# evidence:` says that it is derived, as `import` writes it for a
/// checkpoint on a device.
void note_trace_evidence(const Flags& flags, const Request& request, DataFiles& files);

}  // namespace gradcast
