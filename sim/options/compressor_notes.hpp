// What an answer took for granted about its compressors.
#pragma once
#include <string>
#include <vector>

#include "sim/options/flags.hpp"

namespace gradcast {

/// Of the compressors that select by a threshold: that the share that passes is assumed.
void note_density(const Flags& flags, const std::vector<std::string>& compressors);

/// Where no collective is named: which of several compressors were gathered, but could be
/// all-reduced.
void note_collective(const Flags& flags, const std::vector<std::string>& compressors);

}  // namespace gradcast
