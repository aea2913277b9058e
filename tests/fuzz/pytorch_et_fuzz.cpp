// room: import
// words: sim/import/execution/pytorch_trace.cpp sim/import/execution/execution_trace.cpp

#include "sim/import/readers.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  ImportOptions options;
  options.name = "m";
  require_sound(import_reader_named("pytorch_et").read({file_of(bytes, "m.json")}, options));
}

const Harness harness("pytorch_et", read);

}  // namespace
}  // namespace gradcast::fuzz
