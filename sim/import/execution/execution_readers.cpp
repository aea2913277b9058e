// The readers of execution traces, as readers.def names them.
#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/import/execution/execution_trace.hpp"
#include "sim/import/readers.hpp"

namespace gradcast::import_readers {
namespace {

using ReadTrace = ExecutionTrace (*)(const std::filesystem::path& path);

/// Reason why two files are not of one data-parallel run, as a clause; "" if nothing speaks against
/// it. One size of all-reduces in common is enough: the files may end at different places.
std::string mismatch(const Imported& here, const Imported& there) {
  if (here.model && there.model && here.model->elements() != there.model->elements())
    return "the parameters have " + std::to_string(here.model->elements()) + " elements here and " +
           std::to_string(there.model->elements()) + " there";
  const auto& its = here.buckets;
  const auto& others = there.buckets;
  if (its.empty() != others.empty())
    return "the all-reduces of a step are " + std::to_string(its.size()) + " here and " +
           std::to_string(others.size()) + " there";
  if (its.empty() ||
      std::find_first_of(its.begin(), its.end(), others.begin(), others.end()) != its.end())
    return "";
  return "no all-reduce is as large here as one there: the first has " +
         std::to_string(its.front()) + " elements here and " + std::to_string(others.front()) +
         " there";
}

/// Reads the first of several ranks' files, and compares the others with it: ranks of data-parallel
/// training do the same.
Imported of_ranks(ReadTrace read, const std::vector<std::filesystem::path>& paths,
                  const ImportOptions& options) {
  Imported imported = imported_from(read(paths.front()), options.name);
  if (options.batch && imported.trace) imported.trace->batch = *options.batch;
  if (paths.size() == 1) return imported;
  for (std::size_t i = 1; i < paths.size(); ++i)
    if (const std::string found = mismatch(imported_from(read(paths[i]), options.name), imported);
        !found.empty())
      throw DataError(paths[i].string(), 0,
                      "does not fit " + paths.front().string() + ": " + found +
                          "; give the files of one run's ranks, or one file alone");
  imported.world_size = static_cast<int>(paths.size());
  imported.notes.dropped.push_back(std::to_string(paths.size() - 1) +
                                   " files of other ranks, which do what the first does");
  return imported;
}

}  // namespace

bool chakra_recognises(const FileHead& head) { return is_chakra(head.bytes); }

Imported chakra_read(const std::vector<std::filesystem::path>& paths,
                     const ImportOptions& options) {
  return of_ranks(read_chakra, paths, options);
}

bool pytorch_et_recognises(const FileHead& head) { return is_pytorch_trace(head.bytes); }

Imported pytorch_et_read(const std::vector<std::filesystem::path>& paths,
                         const ImportOptions& options) {
  return of_ranks(read_pytorch_trace, paths, options);
}

}  // namespace gradcast::import_readers
