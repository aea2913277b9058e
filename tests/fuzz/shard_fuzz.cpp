// room: sweep
// words: sim/sweep/shard.cpp
// longest: 300
// What --shard says, and in the lines after it what a batch system's variables say.

#include "sim/base/text.hpp"
#include "sim/sweep/shard.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const std::vector<std::string> lines = split_words(bytes, '\n');
  const Shard shard = parse_shard(lines[0], [&](const std::string& name) -> std::string {
    for (const std::string& line : lines)
      if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
    return "";
  });
  require(shard.number >= 1 && shard.number <= shard.of, "a shard is one of so many");
  tasks_of_shard(shard, 100);
}

const Harness harness("shard", read);

}  // namespace
}  // namespace gradcast::fuzz
