// What a density means for a compressor that has none.
#pragma once
#include <string>
#include <vector>

#include "sim/options/flags.hpp"

namespace gradcast {

/// Of the compressors that select by a threshold: that the share that passes is assumed.
void note_density(const Flags& flags, const std::vector<std::string>& compressors);

}  // namespace gradcast
