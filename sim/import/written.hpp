// The files that an import leaves, in gradcast's formats.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/import/imported.hpp"
#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// Layout of an imported run's ranks on machines.
struct ImportedShape {
  int nodes = 1;
  int gpus_per_node = 1;
  bool assumed = true;  // nobody said so
};

/// `gpus_per_node`: what the user said; none: all in one node up to 8, else 8 a node. Throws
/// ValueError where the ranks do not fill the nodes.
ImportedShape shape_of(const Imported& imported, std::optional<int> gpus_per_node);

/// Paths in the folder; "" for files that are not written.
struct ImportedPaths {
  std::filesystem::path model, trace, measured, cluster, collectives;
};

struct ImportedFiles {
  ImportedPaths paths;
  std::vector<TextFile> files;  // what is to be written, with the folder before their names
  std::optional<Link> link;     // of the cluster, as estimated
};

/// A name for files: small letters, digits, '-', '_' and '.'; others become '-'. "" where none is
/// left.
std::string file_name_of(std::string_view text);

/// models/NAME.csv, traces/iteration-NAME-DEVICE.csv; of a measured cluster platforms/NAME.csv and
/// traces/collectives-NAME.csv; of training logs traces/measured-NAME.csv alone; of a run of
/// several ranks also traces/measured-NAME.csv and platforms/NAME.csv. `provenance` becomes their
/// first lines.
ImportedFiles files_of(const Imported& imported, const std::string& name,
                       const ImportedShape& shape, const std::filesystem::path& folder,
                       const std::vector<std::string>& provenance);

/// Reads what is to be written as forecasts will. Throws DataError for what they would refuse: a
/// tensor of more elements than there are, a step of years.
void require_readable(const ImportedFiles& files);

/// True if the ranks of each of several nodes share a copy: a hybrid as PyTorch's HSDP is.
bool shards_in_nodes(const Imported& imported, const ImportedShape& shape);

/// The link between a run's GPUs, estimated from its all-reduces: the link of a ring of `ranks`
/// whose all-reduces would take these times. A ring takes 2 (n - 1) steps, each of 1/n of the
/// bytes; a reduce-scatter half of them (`rounds` 1). If the times include waiting for other ranks,
/// the fastest of them counts: the link is at least as fast, and its latency is not known (0). Else
/// a straight line through all of them counts; if it begins below 0, the latency is 0. nullopt if
/// there are no times.
std::optional<Link> link_of_ring(const std::vector<ImportedTransfer>& transfers, int ranks,
                                 bool with_waiting, int rounds = 2);

}  // namespace gradcast
