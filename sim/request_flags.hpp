// The flags that describe a run to be forecast.
#pragma once
#include "sim/flags.hpp"
#include "sim/request.hpp"

namespace gradcast {

void add_request_flags(Flags& flags);

/// Throws UsageError.
Request read_request(const Flags& flags);

}  // namespace gradcast
