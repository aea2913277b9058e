#include "sim/base/error.hpp"
#include "sim/import/kineto/event_reader.hpp"

namespace gradcast::kineto {

bool event_reader_built() { return false; }

Head read_events(const std::filesystem::path&, const std::function<void(const Event&)>&) {
  throw MissingError(
      "this build cannot read profiler traces: it was made without simdjson (libsimdjson-dev)");
}

}  // namespace gradcast::kineto
