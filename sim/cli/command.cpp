#include "sim/cli/command.hpp"

#include <stdexcept>
#include <string>

namespace gradcast {

namespace commands {
#define COMMAND(name, summary) int name(int argc, const char* const* argv);
#include "sim/cli/commands.def"
#undef COMMAND
}  // namespace commands

std::span<const Command> all_commands() {
  static constexpr Command kAll[] = {
#define COMMAND(name, summary) {#name, summary, commands::name},
#include "sim/cli/commands.def"
#undef COMMAND
  };
  return kAll;
}

CommandInfo describe(const Command& command) {
  const std::string name(command.name);
  const char* const argv[] = {name.c_str(), kDescribe};
  try {
    command.run(2, argv);
  } catch (CommandInfo& info) {
    info.brief = command.summary;
    return info;
  }
  throw std::logic_error("the command '" + name + "' parses no flags");
}

std::vector<CommandInfo> describe_all() {
  std::vector<CommandInfo> all;
  for (const Command& command : all_commands()) all.push_back(describe(command));
  return all;
}

}  // namespace gradcast
