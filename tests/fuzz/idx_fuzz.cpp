// room: lab
// words: sim/lab/idx.cpp

#include "sim/lab/idx.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const lab::Idx idx = lab::read_idx("x", bytes);
  std::size_t product = 1;
  for (const std::size_t size : idx.sizes) product *= size;
  require(product == idx.bytes.size(), "there are as many bytes as the sizes say");
}

const Harness harness("idx", read);

}  // namespace
}  // namespace gradcast::fuzz
