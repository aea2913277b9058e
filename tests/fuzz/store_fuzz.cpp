// room: sweep
// words: sim/sweep/store.cpp
// longest: 2048

#include "sim/sweep/store.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  // A part may be cut off anywhere: its whole lines count.
  const std::filesystem::path part = file_of(bytes, "x.points.host-1.part");
  const Evaluations kept = Store(part.parent_path() / "x.points").done();
  std::filesystem::remove(part);
  for (const auto& [key, evaluation] : kept) {
    const std::string line = to_line(key, evaluation);
    require(to_line(key, from_line(line)) == line, "a forecast is read as written");
  }
  read_store(file_of(bytes, "y.points"));
}

const Harness harness("store", read);

}  // namespace
}  // namespace gradcast::fuzz
