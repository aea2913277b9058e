// room: lab
// words: sim/lab/checkpoint.cpp

#include "sim/base/sha256.hpp"
#include "sim/lab/checkpoint.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

constexpr std::size_t kParameters = 2;
constexpr std::size_t kWorkers = 1;

/// Reads the part behind the file's sum: no fuzzer would guess a right sum.
void read(const std::string& bytes) {
  const std::string sum = sha256_hex(bytes);
  const std::string file =
      "gradcast checkpoint 2\n" + (sum.empty() ? std::string(64, '-') : sum) + "\n" + bytes;
  const lab::TrainingState state = lab::checkpoint_state("x", file, "x", kParameters, kWorkers);
  require(lab::checkpoint_bytes("x", state) == file, "a state is written as it was read");
}

const Harness harness("checkpoint", read);

}  // namespace
}  // namespace gradcast::fuzz
