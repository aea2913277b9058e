// room: import
// words: sim/import/network/nccl_tests.cpp sim/import/network/nccl_lines.cpp
// sim/import/network/nccl_table.cpp sim/import/network/nccl_tests_json.cpp
// sim/import/network/osu.cpp sim/import/network/iperf3.cpp
// sim/import/network/gpu_topology.cpp

#include "sim/import/readers.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  ImportOptions options;
  options.name = "m";
  options.layout = {.nodes = 2, .gpus_per_node = 2};
  const Imported imported =
      import_reader_named("network").read({file_of(bytes, "run.log")}, options);
  require_sound(imported);
  const ImportedFiles files =
      files_of(imported, "m", shape_of(imported, std::nullopt), "folder", {"provenance"});
  require_readable(files);
}

const Harness harness("network", read);

}  // namespace
}  // namespace gradcast::fuzz
