// room: calibration
// words: sim/calibration/torch_message.cpp
// longest: 1024

#include <cmath>

#include "sim/base/error.hpp"
#include "sim/calibration/torch_child.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  try {
    const BenchResult result = read_torch_answer(bytes, 1);
    require(std::isfinite(result.encode.median_seconds) && result.encode.samples >= 0,
            "an answer has a time and a count");
  } catch (const TorchRefused&) {
  } catch (const ValueError&) {  // it may be a hello
  }
  require(!read_torch_hello(bytes).empty(), "a hello names a torch");
}

const Harness harness("torch_message", read);

}  // namespace
}  // namespace gradcast::fuzz
