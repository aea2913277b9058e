// The readers of execution traces, as readers.def names them.
#include "sim/import/execution/execution_trace.hpp"
#include "sim/import/readers.hpp"

namespace gradcast::import_readers {
namespace {

/// Of several ranks' files the first is read: ranks of data-parallel training do the same.
Imported of_first_rank(const ExecutionTrace& trace, std::size_t files,
                       const ImportOptions& options) {
  Imported imported = imported_from(trace, options.name);
  if (options.batch && imported.trace) imported.trace->batch = *options.batch;
  if (files == 1) return imported;
  imported.world_size = static_cast<int>(files);
  imported.notes.dropped.push_back(std::to_string(files - 1) +
                                   " files of other ranks, which do what the first does");
  return imported;
}

}  // namespace

bool chakra_recognises(const FileHead& head) { return is_chakra(head.bytes); }

Imported chakra_read(const std::vector<std::filesystem::path>& paths,
                     const ImportOptions& options) {
  return of_first_rank(read_chakra(paths.front()), paths.size(), options);
}

bool pytorch_et_recognises(const FileHead& head) { return is_pytorch_trace(head.bytes); }

Imported pytorch_et_read(const std::vector<std::filesystem::path>& paths,
                         const ImportOptions& options) {
  return of_first_rank(read_pytorch_trace(paths.front()), paths.size(), options);
}

}  // namespace gradcast::import_readers
