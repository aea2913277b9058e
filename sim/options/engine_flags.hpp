// The flags that choose the engine, and the random noise of a run.
#pragma once
#include <string>

#include "sim/engine/engine.hpp"
#include "sim/engine/replicas.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

/// The first of all engines answers where none is named.
void add_engine_flag(Flags& flags);

/// The engine that was asked for, else the default. Throws UsageError for an unknown engine,
/// MissingError for one this build lacks.
const Engine& chosen_engine(const Flags& flags);

void add_noise_flags(Flags& flags);

/// `replicas` is 1 if no flag is given.
struct NoiseChoice {
  Noise noise;
  int replicas = 1;

  bool asked() const { return replicas > 1 || noise.any(); }
};

/// Throws UsageError.
NoiseChoice read_noise(const Flags& flags);

}  // namespace gradcast
