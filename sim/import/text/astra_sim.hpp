// ASTRA-sim's and SimAI's text workloads: a line for each layer, with times and collectives.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/import/imported.hpp"

namespace gradcast {

/// Whether a text begins as such a workload does: a scheme, and how many layers follow.
bool is_astra_sim(std::string_view begin);

/// Reads one. `tick`: what a unit of its times is, which no such file says: nanoseconds in SimAI's,
/// microseconds in Chakra's converter. Throws UsageError without it, DataError for what is no such
/// workload or is not data-parallel.
Imported read_astra_sim(const std::filesystem::path& path, const std::string& name,
                        std::optional<Seconds> tick);

}  // namespace gradcast
