// The --engine flag, the same for every command that runs one.
#pragma once
#include "sim/engine/engine.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

void add_engine_flag(Flags& flags);

/// The engine that was asked for, else the default. Throws UsageError for an unknown engine,
/// MissingError for one this build lacks.
const Engine& chosen_engine(const Flags& flags);

}  // namespace gradcast
