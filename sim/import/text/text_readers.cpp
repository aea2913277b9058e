// The readers of other programs' text files, as readers.def names them.
#include "sim/base/error.hpp"
#include "sim/import/readers.hpp"
#include "sim/import/text/astra_sim.hpp"
#include "sim/import/text/pipedream.hpp"

namespace gradcast::import_readers {
namespace {

const std::filesystem::path& only_one(const std::vector<std::filesystem::path>& paths) {
  if (paths.size() > 1) throw UsageError("such a file is a whole network: import them one by one");
  return paths.front();
}

}  // namespace

bool astra_sim_recognises(const FileHead& head) { return is_astra_sim(head.bytes); }

Imported astra_sim_read(const std::vector<std::filesystem::path>& paths,
                        const ImportOptions& options) {
  Imported imported = read_astra_sim(only_one(paths), options.name, options.tick);
  if (options.batch) imported.trace->batch = *options.batch;
  return imported;
}

bool pipedream_recognises(const FileHead& head) { return is_pipedream(head.bytes); }

Imported pipedream_read(const std::vector<std::filesystem::path>& paths,
                        const ImportOptions& options) {
  return read_pipedream(only_one(paths), options.name, options.batch);
}

}  // namespace gradcast::import_readers
