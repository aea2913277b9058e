// Numbers that chance deals, each found by its name: the same whatever was drawn before.
#pragma once
#include <cstdint>

namespace gradcast {

/// What a number is drawn for; two of them never draw the same.
enum class Draw : std::uint64_t {
  Compute = 1,
  Network = 2,
  Count = 3,
  FitStart = 4,
  Bootstrap = 5,
  Shuffle = 6
};

/// One draw's name. `replica` and `index` (a rank, a node) count from 0.
struct DrawName {
  std::uint64_t seed = 0;
  std::uint64_t replica = 0;
  Draw what = Draw::Compute;
  std::uint64_t index = 0;
};

/// Lognormal, of mean 1 and the given standard deviation (0: always 1).
double lognormal_factor(double deviation, const DrawName& name);

/// Evenly between 0 and 1, never either.
double uniform(const DrawName& name);

}  // namespace gradcast
