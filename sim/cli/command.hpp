// The table of commands.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "sim/options/command_info.hpp"

namespace gradcast {

struct Command {
  std::string_view name;
  std::string_view summary;
  /// argv begins with the first word after the command's name. Returns the exit code; throws Error.
  int (*run)(int argc, const char* const* argv);
};

/// In the order of `gradcast --help`.
std::span<const Command> all_commands();

/// What a command takes, without running it. Throws std::logic_error for one without flags.
CommandInfo describe(const Command& command);

/// Of every command, in their order.
std::vector<CommandInfo> describe_all();

}  // namespace gradcast
