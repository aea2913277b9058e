// room: base
// words: sim/base/npy.cpp
// longest: 512

#include "sim/base/npy.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const std::vector<float> vector = read_npy(file_of(bytes, "u.npy"));
  const std::string written = npy_of(vector);
  require(!vector.empty() && written.size() % 4 == 0, "a vector has elements");
  // Byte for byte: NaNs differ from themselves.
  require(npy_of(npy_vector(written, "u.npy")) == written, "a vector is read as written");
}

const Harness harness("npy", read);

}  // namespace
}  // namespace gradcast::fuzz
