// room: import
// words: sim/import/weights/onnx.cpp sim/import/weights/onnx_shapes.cpp

#include "sim/import/readers.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  ImportOptions options = options_for_a_device();
  options.derive.batch = 10;
  options.derive.weights.sequence = 10;
  options.derive.weights.whole_sequences = true;
  options.derive.weights.height = options.derive.weights.width = 32;
  require_sound(import_reader_named("onnx").read({file_of(bytes, "m.onnx")}, options));
}

const Harness harness("onnx", read);

}  // namespace
}  // namespace gradcast::fuzz
