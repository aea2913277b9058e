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

/// All commands, in the order of `gradcast --help`.
std::span<const Command> all_commands();

/// The flags and words of a command, without running it. Throws std::logic_error for a command
/// without flags.
CommandInfo describe(const Command& command);

/// The same for all commands, in their order.
std::vector<CommandInfo> describe_all();

}  // namespace gradcast
