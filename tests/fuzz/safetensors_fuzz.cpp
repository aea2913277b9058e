// room: import
// words: sim/import/weights/safetensors.cpp sim/import/weights/weight_order.cpp
// words: sim/import/weights/weight.cpp

#include "sim/import/readers.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  ImportOptions options = options_for_a_device();
  options.derive.tokens = 1000;
  options.derive.weights.sequence = 10;
  options.derive.weights.experts_per_token = 1;
  require_sound(
      import_reader_named("safetensors").read({file_of(bytes, "m.safetensors")}, options));
}

const Harness harness("safetensors", read);

}  // namespace
}  // namespace gradcast::fuzz
