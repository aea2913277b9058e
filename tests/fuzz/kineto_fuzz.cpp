// room: import
// words: sim/import/kineto/event_reader_simdjson.cpp sim/import/kineto/recording.cpp
// longest: 16384

#include <cmath>

#include "sim/import/kineto/event_reader.hpp"
#include "sim/import/readers.hpp"
#include "sim/import/written.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  if (!kineto::event_reader_built()) return;
  ImportOptions options;
  options.name = "fuzzed";
  const Imported imported =
      import_reader_named("kineto").read({file_of(bytes, "trace.json")}, options);
  require(imported.times.has_value(), "a trace that was read has times");
  const ImportedTimes& times = *imported.times;
  for (const Seconds time : {times.window, times.compute, times.exposed, times.idle, times.busy,
                             times.host, times.wait, times.other, times.forward, times.backward})
    require(std::isfinite(time.count()) && time >= Seconds{0}, "a time is one");
  // Written files can be read.
  const ImportedFiles files = files_of(imported, "fuzzed", shape_of(imported, {}), "my", {});
  require_readable(files);
}

const Harness harness("kineto", read);

}  // namespace
}  // namespace gradcast::fuzz
