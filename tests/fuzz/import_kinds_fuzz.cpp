// room: import
// words: sim/import/readers.cpp sim/import/readers.def sim/import/execution/pytorch_trace.cpp
// A file whose kind nobody said: its beginning tells.

#include "sim/import/readers.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const std::vector<std::filesystem::path> paths = {file_of(bytes, "m")};
  const ImportReader& reader = import_reader_for(paths);
  require_sound(reader.read(paths, options_for_a_device()));
}

const Harness harness("import_kinds", read);

}  // namespace
}  // namespace gradcast::fuzz
