// room: import
// words: sim/import/kineto/event_reader_simdjson.cpp sim/import/kineto/recording.cpp
// longest: 16384
// The traces of two ranks, with an empty line between them.

#include <cmath>

#include "sim/import/kineto/event_reader.hpp"
#include "sim/import/readers.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  if (!kineto::event_reader_built()) return;
  const std::size_t end = std::min(bytes.find("\n\n"), bytes.size());
  const Imported imported = import_reader_named("kineto").read(
      {file_of(bytes.substr(0, end), "a.json"), file_of(bytes.substr(end), "b.json")},
      options_for_a_device());
  for (const ImportedCollective& one : imported.collectives) {
    if (!one.transfer || !one.skew) continue;
    require(std::isfinite(one.transfer->count()) && one.transfer->count() >= 0, "data moves on");
    require(std::isfinite(one.skew->count()) && one.skew->count() >= 0, "the last rank is last");
  }
  require_sound(imported);
}

const Harness harness("kineto_ranks", read);

}  // namespace
}  // namespace gradcast::fuzz
