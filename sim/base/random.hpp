// Random numbers. Each has a name, and its value depends on the name alone, not on what was drawn
// before.
#pragma once
#include <cstdint>

namespace gradcast {

/// The purpose of a number. Two purposes never draw the same number.
enum class Draw : std::uint64_t {
  Compute = 1,
  Network = 2,
  Count = 3,
  FitStart = 4,
  Bootstrap = 5,
  Shuffle = 6,
  Parameters = 7,
  Shards = 8,
  Epoch = 9,
  Selection = 10,
  Samples = 11,
  Element = 12
};

/// The name of one draw. `replica` and `index` (a rank, a node, an element) count from 0.
struct DrawName {
  std::uint64_t seed = 0;
  std::uint64_t replica = 0;
  Draw what = Draw::Compute;
  std::uint64_t index = 0;
};

/// Lognormal, of mean 1 and the given standard deviation (0: always 1).
double lognormal_factor(double deviation, const DrawName& name);

/// Uniform between 0 and 1; never 0 and never 1.
double uniform(const DrawName& name);

}  // namespace gradcast
