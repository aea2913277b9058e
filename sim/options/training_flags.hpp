// The flags that say who keeps what in which type.
#pragma once
#include "sim/forecast/request.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

void add_training_flags(Flags& flags);

/// Fills that part of the request. Throws UsageError.
void read_training(const Flags& flags, Request& request);

}  // namespace gradcast
