// Imports of measurements of a cluster, from texts.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/import/readers.hpp"
#include "tests/temporary_folder.hpp"

namespace gradcast {

/// Imports a file for each text: 0.log, 1.log, ... `machine`: as --cluster names it.
inline Imported network_of(const std::vector<std::string>& texts, const SaidLayout& layout = {},
                           std::optional<Cluster> machine = std::nullopt) {
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> paths;
  for (const std::string& text : texts)
    paths.push_back(folder.write(std::to_string(paths.size()) + ".log", text));
  ImportOptions options;
  options.layout = layout;
  options.machine = std::move(machine);
  return import_reader_for(paths).read(paths, options);
}

}  // namespace gradcast
