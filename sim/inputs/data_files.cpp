#include "sim/inputs/data_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

namespace fs = std::filesystem;

/// Throws DataError where this machine cannot say.
bool holds_data(const fs::path& folder) {
  return entry_at(folder / "models") == Entry::Folder &&
         entry_at(folder / "traces") == Entry::Folder;
}

/// Of a folder that nobody named: one that cannot be entered is as good as none.
bool may_hold_data(const fs::path& folder) {
  try {
    return holds_data(folder);
  } catch (const DataError&) {
    return false;
  }
}

DataFiles chosen_files(const char* folder) {
  try {
    if (holds_data(folder)) return DataFiles(folder);
  } catch (const DataError& error) {
    throw UsageError(std::string("GRADCAST_DATA: ") + error.what());
  }
  throw UsageError("GRADCAST_DATA is '" + std::string(folder) +
                   "', which holds no models/ and traces/");
}

}  // namespace

bool is_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".csv") ||
         name_or_path.ends_with(".xml");
}

DataFiles DataFiles::standard() {
  if (const char* chosen = std::getenv("GRADCAST_DATA"); chosen != nullptr && *chosen != '\0')
    return chosen_files(chosen);
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& folder :
       {program / ".." / "share" / "gradcast", fs::path(GRADCAST_SOURCE_DIR)})
    if (may_hold_data(folder)) return DataFiles(folder.lexically_normal());
  throw MissingError(
      "the data folders models/, traces/ and platforms/ were not found; "
      "set GRADCAST_DATA to the folder that holds them");
}

std::vector<std::string> DataFiles::names(const DataKind& kind) const {
  std::vector<std::string> names;
  for (const fs::path& entry : entries_of(root_ / kind.folder)) {
    const std::string name = entry.stem().string();
    const bool other = !kind.others.empty() && name.starts_with(kind.others);
    if (entry.extension() == ".csv" && name.starts_with(kind.prefix) && !other)
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

TextFile DataFiles::read(const DataKind& kind, const std::string& name_or_path,
                         const fs::path& folder) {
  fs::path path = folder / name_or_path;
  if (!is_path(name_or_path)) {
    const std::vector<std::string> known = names(kind);
    if (std::find(known.begin(), known.end(), name_or_path) == known.end())
      throw ValueError("unknown " + std::string(kind.what) + " '" + name_or_path + "'" +
                       did_you_mean(name_or_path, known) + " (known: " + join(known) +
                       "; or the path of a .csv file)");
    path = root_ / kind.folder / (name_or_path + ".csv");
  }
  return read_once(name_or_path, path);
}

TextFile DataFiles::read_path(const std::string& path) { return read_once(path, path); }

TextFile DataFiles::read_once(const std::string& typed, const fs::path& path) {
  const auto read_before = contents_.find(path);
  TextFile file =
      read_before == contents_.end() ? read_text_file(path) : TextFile{path, read_before->second};
  contents_.try_emplace(path, file.content);
  const auto same = [&](const InputFile& input) {
    return input.typed == typed && input.path == path;
  };
  if (std::none_of(inputs_.begin(), inputs_.end(), same))
    inputs_.push_back({typed, sha256_hex(file.content), path});
  return file;
}

const std::string& DataFiles::sha256_of(const fs::path& path) const {
  const auto its = std::find_if(inputs_.begin(), inputs_.end(),
                                [&](const InputFile& input) { return input.path == path; });
  if (its == inputs_.end()) throw std::logic_error(path.string() + " was never read");
  return its->sha256;
}

}  // namespace gradcast
