// The readers of other programs' files, and which of them a file is for.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"
#include "sim/import/imported.hpp"
#include "sim/import/weights/derive.hpp"
#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// The layout of ranks, as somebody says it of a table that does not list them.
struct SaidLayout {
  std::optional<int> nodes{};
  std::optional<int> gpus_per_node{};
};

/// The facts of a run that its user says, because no training log does.
struct SaidRun {
  std::string model, trace, cluster;  // names or paths
  std::int64_t elements = 0;          // of the model; 0: not known
  std::vector<Seconds> compute;       // an iteration of one GPU: of all runs, or of each
};

/// Options that a user gives beside the files. A reader takes what it needs and ignores the rest.
struct ImportOptions {
  std::string name;                  // of the model that is made
  std::optional<TextFile> params;    // names and sizes of the gradients
  std::optional<int> batch;          // samples a GPU, where the file does not say
  DeriveChoice derive{};             // of checkpoints and graphs: the device to derive times for
  SaidLayout layout{};               // of OSU's tables
  std::optional<Cluster> machine{};  // of measurements and logs: the cluster that --cluster names
  std::optional<Seconds> tick{};     // what a text workload's times count
  SaidRun said{};                    // of training logs
};

/// The beginning of a file, after unpacking: enough to tell whose it is.
struct FileHead {
  std::filesystem::path path;
  std::string bytes;
};

struct ImportReader {
  std::string_view name;  // what --kind takes
  std::string_view what;  // what it reads, for help and messages
  /// Whether a file looks like one of its own.
  bool (*recognises)(const FileHead& head);
  /// Reads files that belong together: those of a run's ranks. Throws DataError, MissingError.
  Imported (*read)(const std::vector<std::filesystem::path>& paths, const ImportOptions& options);
};

/// All readers, in the order of readers.def.
std::span<const ImportReader> import_readers_in_order();

/// The reader of that name. Throws ValueError with the known names.
const ImportReader& import_reader_named(const std::string& name);

/// The reader for these files, by what they begin with. Throws DataError for a file that is for
/// none, and where two files are for different ones.
const ImportReader& import_reader_for(const std::vector<std::filesystem::path>& paths);

}  // namespace gradcast
