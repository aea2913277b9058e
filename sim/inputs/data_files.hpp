// Finds models, traces and clusters: by name in the project's folders, or by path.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "sim/base/file_stamp.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {

/// A kind of data file: its folder and how its names begin.
struct DataKind {
  std::string_view what;        // "model", for messages
  std::string_view folder;      // "models"
  std::string_view prefix;      // names begin with it: "iteration-"
  std::string_view others{};    // names that begin with this are of another kind
  std::string_view unlisted{};  // no message lists names with this in them
};

inline constexpr DataKind kModels{"model", "models", ""};
inline constexpr DataKind kIterationTraces{"trace", "traces", "iteration-"};
inline constexpr DataKind kCompressorFiles{"compressor", "compressors", ""};
inline constexpr DataKind kCostTables{"cost table", "traces", "cost-"};
inline constexpr DataKind kMeasuredRuns{"measured file", "traces", "measured-"};
/// "ddp-nccl-without-x" was estimated without the group x, to judge forecasts of that group.
inline constexpr std::string_view kWithout = "-without-";
inline constexpr DataKind kStacks{"stack", "platforms", "stack-", {}, kWithout};
inline constexpr DataKind kClusters{"cluster", "platforms", "", kStacks.prefix};
inline constexpr DataKind kCollectiveCurves{"file of collectives", "traces", "collectives-"};
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

/// Finds and reads data files, each once, and remembers which. A folder is listed once, and what a
/// file says is parsed once. If a file changes after it was read, no answer changes. Several
/// threads may use it at the same time.
class DataFiles {
 public:
  /// The folder that holds models/, traces/ and platforms/: that of `StandardFiles` in this thread,
  /// else that of `set_standard_folder`, else $GRADCAST_DATA, else ../share/gradcast beside an
  /// installed program, else the source tree of a built one.
  static DataFiles standard();

  /// Sets the folder of a process that is no program of ours: the one that the first call names
  /// stays. Throws UsageError if it holds no data.
  static void set_standard_folder(const std::filesystem::path& folder);

  explicit DataFiles(std::filesystem::path root)
      : root_(std::move(root)), known_(std::make_shared<Known>()) {}

  /// The same files, none of them an input so far: what is looked at there need not be an input of
  /// the answer. Both read and parse each file once.
  DataFiles beside() const { return DataFiles(root_, known_); }

  const std::filesystem::path& root() const { return root_; }

  /// Names of a kind, sorted.
  const std::vector<std::string>& names(const DataKind& kind) const;
  /// True if there is a file of this kind and name.
  bool has(const DataKind& kind, const std::string& name) const;

  /// True for a file of any kind, by whatever path, that commands find here by its name, or would
  /// if it were there.
  bool holds(const std::filesystem::path& file) const;

  /// Reads the file of a name of this kind, or of a path. A relative path begins at `folder`: the
  /// folder of the file that names it, or "" (the current directory) where a user names it. Throws
  /// ValueError for an unknown name (with a suggestion), DataError for a file that cannot be read.
  const TextFile& read(const DataKind& kind, const std::string& name_or_path,
                       const std::filesystem::path& folder = {});

  /// Reads any file, as an input like others. Throws DataError.
  const TextFile& read_path(const std::string& path);

  /// From now on `path` names this content, and no file. Throws UsageError if it names another, or
  /// is no path.
  void provide(const std::string& path, std::string content);

  /// A path as it names the same file in any folder: absolute, but for one that `provide` named.
  std::string from_anywhere(const std::string& path) const;

  /// The value that `parse` makes of a file that was read here. There is one such function for a T.
  /// Throws what it throws.
  template <class T>
  std::shared_ptr<const T> parsed(const TextFile& file, T (*parse)(const TextFile&)) const {
    return made<T>(file.path.native(), [&] { return parse(file); });
  }

  /// The value that `make` makes from files that were read here. `key` names it among all values of
  /// type T. Throws what `make` throws.
  template <class T, class Make>
  std::shared_ptr<const T> made(const std::string& key, Make make) const {
    Slot& slot = slot_of({key, typeid(T)});
    const std::lock_guard held(slot.lock);
    if (slot.value == nullptr) slot.value = std::make_shared<const T>(make());
    return std::static_pointer_cast<const T>(slot.value);
  }

  /// The SHA-256 of a file that was read, in hexadecimal.
  const std::string& sha256_of(const std::filesystem::path& path) const;

  /// True where a file that was read, or a folder that was listed, is no longer as it was. Costs a
  /// look at each, and what was written just before it was read is read again.
  bool changed() const;

  /// The files that were read, in the order of reading, each once. Not while another thread reads.
  const std::vector<InputFile>& inputs() const { return inputs_; }

 private:
  struct Content {
    TextFile file;
    std::string sha256;
    std::optional<FileStamp> stamp{};  // of a file that can be read twice
    bool provided{};                   // by `provide`
  };
  struct Names {
    DataKind kind;
    std::optional<FileStamp> stamp;  // of the folder
    std::vector<std::string> sorted;
  };
  struct Slot {
    std::mutex lock{};
    std::shared_ptr<const void> value{};
  };
  using Key = std::pair<std::string, std::type_index>;
  /// All that was read and made, of several DataFiles. No entry moves or goes.
  struct Known {
    std::mutex lock{};  // of the maps, and of everybody's inputs
    std::map<std::string, Content> contents{};
    std::map<std::string, Names> names{};
    std::map<Key, Slot> slots{};
  };

  DataFiles(std::filesystem::path root, std::shared_ptr<Known> known)
      : root_(std::move(root)), known_(std::move(known)) {}

  Names listed(const DataKind& kind) const;
  /// Whether `provide` named it. The lock is held.
  bool is_provided(const std::string& path) const;
  /// A path that begins at `folder`. What `provide` named has no folder: it is found from any, but
  /// after a file that lies there.
  std::filesystem::path found_from(const std::filesystem::path& folder,
                                   const std::string& path) const;
  const TextFile& read_once(const std::string& typed, const std::filesystem::path& path);
  Slot& slot_of(const Key& key) const;

  std::filesystem::path root_;
  std::shared_ptr<Known> known_;
  std::vector<InputFile> inputs_{};
};

/// While it lives, commands in this thread find these files, and what was read of them before.
class StandardFiles {
 public:
  explicit StandardFiles(const DataFiles& files);
  ~StandardFiles();
  StandardFiles(const StandardFiles&) = delete;
  StandardFiles& operator=(const StandardFiles&) = delete;

 private:
  const DataFiles* before_;
};

}  // namespace gradcast
