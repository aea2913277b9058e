// room: base
// words: sim/sweep/plan.cpp
// longest: 1024

#include "sim/base/toml_file.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const TomlFile file = load_toml(text_file(bytes, "plan.toml"));
  std::size_t line = 0;
  for (const TomlEntry& entry : file.entries) {
    require(entry.line >= line, "entries stand in the order of the file");
    require(entry.is_list || entry.values.size() == 1, "a key has a value");
    line = entry.line;
  }
}

const Harness harness("toml", read);

}  // namespace
}  // namespace gradcast::fuzz
