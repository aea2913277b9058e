// The --engine flag, the same for every command that runs one.
#pragma once
#include "sim/engine/engine.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

void add_engine_flag(Flags& flags);

/// The engine that was asked for, else the first that this build has. Throws UsageError for an
/// unknown engine, MissingError for one this build lacks.
const Engine& chosen_engine(const Flags& flags);

/// Prints a note if the preferred engine is not used because this build lacks it.
void note_engine(const Flags& flags, const Engine& engine);

}  // namespace gradcast
