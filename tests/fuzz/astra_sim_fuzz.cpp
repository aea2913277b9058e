// room: import
// words: sim/import/text/astra_sim.cpp

#include "sim/import/readers.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  ImportOptions options;
  options.name = "m";
  options.tick = Seconds{1e-6};
  require_sound(import_reader_named("astra_sim").read({file_of(bytes, "m.txt")}, options));
}

const Harness harness("astra_sim", read);

}  // namespace
}  // namespace gradcast::fuzz
