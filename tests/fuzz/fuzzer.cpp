// The function that libFuzzer calls: it runs the one harness of its program.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of the exact size: the sanitizer then sees a read behind its end.
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  gradcast::fuzz::all_harnesses().front()->run(bytes);
  return 0;
}
