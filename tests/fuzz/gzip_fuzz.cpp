// room: base

#include "sim/base/block_reader.hpp"
#include "sim/base/gzip.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/read_unpacked.hpp"

namespace gradcast::fuzz {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 20;

void read(const std::string& bytes) {
  if (!gzip_built()) return;
  Gzip packed;
  packed.add(bytes);
  require(read_unpacked(file_of(packed.finish(), "own.gz"), kMost) == bytes,
          "what is packed is unpacked the same");
  require(read_unpacked(file_of(bytes, "x.gz"), kMost).size() <= kMost,
          "no more is unpacked than is allowed");
}

const Harness harness("gzip", read);

}  // namespace
}  // namespace gradcast::fuzz
