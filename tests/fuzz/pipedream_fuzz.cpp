// room: import
// words: sim/import/text/pipedream.cpp

#include "sim/import/readers.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  ImportOptions options;
  options.name = "m";
  options.batch = 1;
  require_sound(import_reader_named("pipedream").read({file_of(bytes, "graph.txt")}, options));
}

const Harness harness("pipedream", read);

}  // namespace
}  // namespace gradcast::fuzz
