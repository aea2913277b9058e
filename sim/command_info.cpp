#include "sim/command_info.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/command.hpp"

namespace gradcast {

const FlagInfo* CommandInfo::find(const std::string& flag) const {
  const auto found = std::find_if(flags.begin(), flags.end(),
                                  [&](const FlagInfo& info) { return info.name == flag; });
  return found == flags.end() ? nullptr : &*found;
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
