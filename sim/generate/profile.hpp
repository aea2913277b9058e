// Measured times of a network's operators, as others published them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/generate/architecture.hpp"
#include "sim/generate/published_gpu.hpp"

namespace gradcast {

/// An operator with parameters; those without are folded into the one before them.
struct ProfiledOperator {
  std::string name;
  std::int64_t parameters = 0;
  ComputeTime time;
};

/// Reads `traces/profile-<model>-<source>.csv`:
/// operator,parameters,forward_seconds,backward_seconds. Throws DataError.
std::vector<ProfiledOperator> load_profile(const TextFile& file);

/// The time of each of the architecture's operators that has parameters, in order. Throws DataError
/// unless the profile has the same operators, by their numbers of parameters.
std::vector<ComputeTime> match_profile(const Architecture& architecture, const TextFile& file);

}  // namespace gradcast
