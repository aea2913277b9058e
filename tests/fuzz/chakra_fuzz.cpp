// room: import
// words: sim/import/execution/chakra.cpp sim/import/execution/execution_trace.cpp

#include "sim/import/readers.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  ImportOptions options;
  options.name = "m";
  require_sound(import_reader_named("chakra").read({file_of(bytes, "m.et")}, options));
}

const Harness harness("chakra", read);

}  // namespace
}  // namespace gradcast::fuzz
