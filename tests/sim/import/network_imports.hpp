// Imports of measurements of a cluster, from texts.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "sim/import/readers.hpp"
#include "tests/temporary_folder.hpp"

namespace gradcast {

/// Imports a file for each text: 0.log, 1.log, ...
inline Imported network_of(const std::vector<std::string>& texts, const SaidLayout& layout = {}) {
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> paths;
  for (const std::string& text : texts)
    paths.push_back(folder.write(std::to_string(paths.size()) + ".log", text));
  ImportOptions options;
  options.layout = layout;
  return import_reader_for(paths).read(paths, options);
}

}  // namespace gradcast
