// room: import
// words: sim/import/nsys/nsys_events.cpp
// longest: 16384

#include "sim/import/readers.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  ImportOptions options;
  options.name = "m";
  require_sound(import_reader_named("nsys").read({file_of(bytes, "m.sqlite")}, options));
}

const Harness harness("nsys", read);

}  // namespace
}  // namespace gradcast::fuzz
