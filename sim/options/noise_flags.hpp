// The flags of runs under random noise.
#pragma once
#include "sim/engine/replicas.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

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
