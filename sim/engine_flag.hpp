// The --engine flag, the same for every command that runs one.
#pragma once
#include "sim/engine.hpp"
#include "sim/flags.hpp"

namespace gradcast {

void add_engine_flag(Flags& flags);

/// The engine that was asked for; where none was and the default is not in this build, the next one
/// and a note. Throws UsageError for an unknown engine, MissingError for one this build lacks.
const Engine& chosen_engine(const Flags& flags);

}  // namespace gradcast
