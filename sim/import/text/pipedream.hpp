// PipeDream's profiles (graph.txt): a line for each operator, with its times and sizes.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sim/import/imported.hpp"

namespace gradcast {

/// Whether a text begins as such a graph does: "node11 -- ReLU(inplace) --
/// forward_compute_time=...".
bool is_pipedream(std::string_view begin);

/// Operators without parameters are folded into the one before them; the loading of data is left
/// out. `batch`: for a graph whose input is no batch of 224 x 224 or 299 x 299 images. Throws
/// DataError, and UsageError where the batch is not known.
Imported read_pipedream(const std::filesystem::path& path, const std::string& name,
                        std::optional<int> batch);

}  // namespace gradcast
