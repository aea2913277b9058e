#include "sim/inputs/data_files.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/inputs/published_accuracy.hpp"

namespace gradcast {
namespace {

namespace fs = std::filesystem;

/// Throws DataError where this machine cannot say.
bool holds_data(const fs::path& folder) {
  return entry_at(folder / "models") == Entry::Folder &&
         entry_at(folder / "traces") == Entry::Folder;
}

/// Like holds_data, for a folder that nobody named: if it cannot be entered, it holds no data.
bool may_hold_data(const fs::path& folder) {
  try {
    return holds_data(folder);
  } catch (const DataError&) {
    return false;
  }
}

constexpr std::array kDataKinds = {
    kModels, kIterationTraces, kCompressorFiles,    kCostTables,    kMeasuredRuns,
    kStacks, kClusters,        kCollectiveCurves,   kFitStructures, kStackLists,
    kEvents, kDevices,         kPublishedAccuracies};

thread_local const DataFiles* files_of_thread = nullptr;

/// The folder of set_standard_folder, and its lock.
std::mutex standard_folder_lock;
fs::path standard_folder;

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

void DataFiles::set_standard_folder(const fs::path& folder) {
  if (!holds_data(folder))
    throw UsageError("'" + folder.string() + "' holds no models/ and traces/");
  const std::lock_guard held(standard_folder_lock);
  if (standard_folder.empty()) standard_folder = folder;
}

StandardFiles::StandardFiles(const DataFiles& files)
    : before_(std::exchange(files_of_thread, &files)) {}

StandardFiles::~StandardFiles() { files_of_thread = before_; }

DataFiles DataFiles::standard() {
  if (files_of_thread != nullptr) return files_of_thread->beside();
  {
    const std::lock_guard held(standard_folder_lock);
    if (!standard_folder.empty()) return DataFiles(standard_folder);
  }
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

const std::vector<std::string>& DataFiles::names(const DataKind& kind) const {
  const std::string key =
      join({std::string(kind.folder), std::string(kind.prefix), std::string(kind.others)}, "/");
  const std::lock_guard held(known_->lock);
  auto at = known_->names.find(key);
  if (at == known_->names.end()) at = known_->names.emplace(key, listed(kind)).first;
  return at->second.sorted;
}

DataFiles::Names DataFiles::listed(const DataKind& kind) const {
  const fs::path folder = root_ / kind.folder;
  Names names{kind, stamp_of(folder), {}};  // before it is listed: it may change meanwhile
  for (const fs::path& entry : entries_of(folder)) {
    const std::string name = entry.stem().string();
    const bool other = !kind.others.empty() && name.starts_with(kind.others);
    if (entry.extension() == ".csv" && name.starts_with(kind.prefix) && !other)
      names.sorted.push_back(name);
  }
  std::sort(names.sorted.begin(), names.sorted.end());
  return names;
}

bool DataFiles::has(const DataKind& kind, const std::string& name) const {
  const std::vector<std::string>& sorted = names(kind);
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

bool DataFiles::holds(const fs::path& file) const {
  if (file.extension() != ".csv") return false;
  std::error_code ignored;
  const std::string name = file.stem().string();
  const fs::path folder = fs::absolute(file, ignored).parent_path();
  return std::any_of(kDataKinds.begin(), kDataKinds.end(), [&](const DataKind& kind) {
    return name.starts_with(kind.prefix) && fs::equivalent(root_ / kind.folder, folder, ignored);
  });
}

const TextFile& DataFiles::read(const DataKind& kind, const std::string& name_or_path,
                                const fs::path& folder) {
  if (is_path(name_or_path)) return read_once(name_or_path, found_from(folder, name_or_path));
  if (!has(kind, name_or_path)) {
    std::vector<std::string> known = names(kind);
    if (!kind.unlisted.empty())
      std::erase_if(known, [&](const std::string& name) {
        return name.find(kind.unlisted) != std::string::npos;
      });
    throw ValueError("unknown " + std::string(kind.what) + " '" + name_or_path + "'" +
                     did_you_mean(name_or_path, known) + " (known: " + join(known) +
                     "; or the path of a .csv file)");
  }
  return read_once(name_or_path, root_ / kind.folder / (name_or_path + ".csv"));
}

const TextFile& DataFiles::read_path(const std::string& path) { return read_once(path, path); }

void DataFiles::provide(const std::string& path, std::string content) {
  if (!is_path(path)) throw UsageError("'" + path + "' is no name of a file: end it in '.csv'");
  const std::lock_guard held(known_->lock);
  if (const auto at = known_->contents.find(path); at != known_->contents.end()) {
    if (at->second.file.content == content) return;
    throw UsageError("'" + path + "' already names another content: give one of them another name");
  }
  std::string sha256 = sha256_hex(content);
  known_->contents.emplace(path, Content{{path, std::move(content)}, std::move(sha256), {}, true});
}

std::string DataFiles::from_anywhere(const std::string& path) const {
  const std::lock_guard held(known_->lock);
  return is_provided(path) ? path : fs::absolute(path).string();
}

bool DataFiles::is_provided(const std::string& path) const {
  const auto at = known_->contents.find(path);
  return at != known_->contents.end() && at->second.provided;
}

fs::path DataFiles::found_from(const fs::path& folder, const std::string& path) const {
  const fs::path there = folder / path;
  const std::lock_guard held(known_->lock);
  std::error_code ignored;
  const bool here = is_provided(path) && !known_->contents.contains(there.native()) &&
                    !fs::exists(there, ignored);
  return here ? fs::path(path) : there;
}

const TextFile& DataFiles::read_once(const std::string& typed, const fs::path& path) {
  const std::lock_guard held(known_->lock);
  auto content = known_->contents.find(path.native());
  if (content == known_->contents.end()) {
    const std::optional<FileStamp> stamp = stamp_of(path);
    TextFile file = read_text_file(path);
    std::string sha256 = sha256_hex(file.content);
    content =
        known_->contents.emplace(path.native(), Content{std::move(file), std::move(sha256), stamp})
            .first;
  }
  const auto same = [&](const InputFile& input) {
    return input.typed == typed && input.path.native() == path.native();
  };
  if (std::none_of(inputs_.begin(), inputs_.end(), same))
    inputs_.push_back({typed, content->second.sha256, path});
  return content->second.file;
}

DataFiles::Slot& DataFiles::slot_of(const Key& key) const {
  const std::lock_guard held(known_->lock);
  return known_->slots[key];
}

bool DataFiles::changed() const {
  // A stamp says too little of a file that was read just after it was written: look inside.
  const auto other = [](std::optional<FileStamp>& stamp, const fs::path& path, auto other_inside) {
    const std::optional<FileStamp> now = stamp_of(path);
    if (!stamp || !now) return stamp.has_value() != now.has_value();
    if (!now->same_file(*stamp)) return true;
    if (stamp->is_young() && other_inside()) return true;
    stamp = now;
    return false;
  };
  const std::lock_guard held(known_->lock);
  // Lambdas take the bindings by name: clang 14 captures none by itself.
  for (auto& [key, names] : known_->names)
    if (other(names.stamp, root_ / names.kind.folder,
              [this, &names = names] { return listed(names.kind).sorted != names.sorted; }))
      return true;
  for (auto& [path, content] : known_->contents)
    if (content.stamp && other(content.stamp, path, [&path = path, &content = content] {
          try {
            return read_text_file(path).content != content.file.content;
          } catch (const DataError&) {
            return true;
          }
        }))
      return true;
  return false;
}

const std::string& DataFiles::sha256_of(const fs::path& path) const {
  const std::lock_guard held(known_->lock);
  const auto its = known_->contents.find(path.native());
  if (its == known_->contents.end()) throw std::logic_error(path.string() + " was never read");
  return its->second.sha256;
}

}  // namespace gradcast
