// Where models, traces and clusters are found: by name in the project's folders, or by path.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text_file.hpp"

namespace gradcast {

/// A kind of data file: its folder and how its names begin.
struct DataKind {
  std::string_view what;      // "model", for messages
  std::string_view folder;    // "models"
  std::string_view prefix;    // names begin with it: "iteration-"
  std::string_view others{};  // names that begin with this are of another kind
};

inline constexpr DataKind kModels{"model", "models", ""};
inline constexpr DataKind kIterationTraces{"trace", "traces", "iteration-"};
inline constexpr DataKind kCostTables{"cost table", "traces", "cost-"};
inline constexpr DataKind kMeasuredRuns{"measured file", "traces", "measured-"};
inline constexpr DataKind kStacks{"stack", "platforms", "stack-"};
inline constexpr DataKind kClusters{"cluster", "platforms", "", kStacks.prefix};
inline constexpr DataKind kFitStructures{"fit structure", "traces", "fit-"};
inline constexpr DataKind kStackLists{"list for stacks", "traces", "stack-"};
inline constexpr DataKind kEvents{"events file", "traces", "events-"};

/// True for a path, false for a name. A path has a '/', or ends in ".csv" or ".xml".
bool is_path(const std::string& name_or_path);

/// An input as the user named it, with what was read: results print it with its SHA-256.
struct InputFile {
  std::string typed;
  std::string sha256;
  std::filesystem::path path{};  // where it was found: the same words may name two files
};

/// Finds and reads data files, each once, and remembers which. If a file changes after it was read,
/// no answer changes.
class DataFiles {
 public:
  /// The folder that holds models/, traces/ and platforms/: $GRADCAST_DATA, else ../share/gradcast
  /// beside an installed program, else the source tree of a built one.
  static DataFiles standard();

  explicit DataFiles(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }

  /// Names of a kind, sorted.
  std::vector<std::string> names(const DataKind& kind) const;

  /// Reads the file of a name of this kind, or of a path. A relative path begins at `folder`: the
  /// folder of the file that names it, or "" (the current directory) where a user names it. Throws
  /// ValueError for an unknown name (with a suggestion), DataError for a file that cannot be read.
  TextFile read(const DataKind& kind, const std::string& name_or_path,
                const std::filesystem::path& folder = {});

  /// Reads any file, as an input like others. Throws DataError.
  TextFile read_path(const std::string& path);

  /// The SHA-256 of a file that was read, in hexadecimal.
  const std::string& sha256_of(const std::filesystem::path& path) const;

  /// The files that were read, in the order of reading, each once.
  const std::vector<InputFile>& inputs() const { return inputs_; }

 private:
  TextFile read_once(const std::string& typed, const std::filesystem::path& path);

  std::filesystem::path root_;
  std::map<std::filesystem::path, std::string> contents_;
  std::vector<InputFile> inputs_;
};

}  // namespace gradcast
