// room: options
// words: sim/options/request_flags.cpp sim/options/config.cpp sim/options/flags.cpp
// longest: 1024

#include "sim/options/config.hpp"
#include "sim/options/request_flags.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

/// One command stands for all: it has flags with values, and a switch.
std::vector<CommandInfo> one_command() {
  Flags flags("simulate", "", {});
  add_request_flags(flags);
  const char* words[] = {"simulate", kDescribe};
  try {
    flags.parse(2, words);
  } catch (const CommandInfo& info) {
    return {info};
  }
  return {};
}

void read(const std::string& bytes) {
  static const std::vector<CommandInfo> commands = one_command();
  set_known_commands([] { return commands; });
  for (const KeptValue& kept : kept_values(commands.front(), file_of(bytes, "config.toml")))
    require(commands.front().find(kept.flag) != nullptr && kept.line > 0,
            "a kept value is a flag's, and of a line");
}

const Harness harness("config", read);

}  // namespace
}  // namespace gradcast::fuzz
