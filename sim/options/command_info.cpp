#include "sim/options/command_info.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradcast {
namespace {

ListCommands list_commands = nullptr;

}  // namespace

const FlagInfo* CommandInfo::find(const std::string& flag) const {
  const auto found = std::find_if(flags.begin(), flags.end(),
                                  [&](const FlagInfo& info) { return info.name == flag; });
  return found == flags.end() ? nullptr : &*found;
}

void set_known_commands(ListCommands list) { list_commands = list; }

std::vector<CommandInfo> known_commands() {
  if (list_commands == nullptr) throw std::logic_error("nobody said which commands there are");
  return list_commands();
}

}  // namespace gradcast
