// Defaults of flags that a person keeps: environment variables, and a file.
#pragma once
#include <string>
#include <vector>

#include "sim/options/command_info.hpp"

namespace gradcast {

/// A value that was not typed.
struct KeptValue {
  std::string flag;
  std::string value;   // of a switch: "true" or "false"
  std::string origin;  // "GRADCAST_DENSITY", or "config.toml:3"
  std::string path{};  // of the file; "" where an environment variable says it
  std::size_t line = 0;
};

/// The variable of a flag: GRADCAST_NIC_BANDWIDTH.
std::string variable_of(const std::string& flag);

/// Whether environment and file may say it: not -o, -c, -h and what a command's words are.
bool may_be_kept(const std::string& flag);

/// The file that is read: `asked` (what --config says), else $GRADCAST_CONFIG, else
/// $XDG_CONFIG_HOME/gradcast/config.toml, else ~/.config/gradcast/config.toml where it exists. ""
/// for none, which is also what "none" means.
std::string config_path(const std::string& asked);

/// Nothing for a command without --config; else what environment and file say of its flags, each
/// flag once, in the order of the command's flags: the environment wins, and in the file the
/// command's own table. Throws DataError for a file that cannot be read, and for a key or table
/// that no command knows, also where it is another command's; UsageError for a wrong environment
/// variable.
std::vector<KeptValue> kept_values(const CommandInfo& command, const std::string& config_file);

}  // namespace gradcast
