// Values of flags from environment variables and a config file.
#pragma once
#include <string>
#include <vector>

#include "sim/options/command_info.hpp"

namespace gradcast {

/// A value that came from there and was not typed.
struct KeptValue {
  std::string flag;
  std::string value;   // of a switch: "true" or "false"
  std::string origin;  // "GRADCAST_DENSITY", or "config.toml:3"
  std::string path{};  // of the file; "" where an environment variable says it
  std::size_t line = 0;
};

/// The environment variable of a flag: GRADCAST_NIC_BANDWIDTH.
std::string variable_of(const std::string& flag);

/// Whether environment and file may set a flag: all but -o, -c, -h and a command's words.
bool may_be_kept(const std::string& flag);

/// The name of the file in a folder that --config names, or that is a word of `decide`.
inline constexpr const char* kFolderConfig = "gradcast.toml";

/// The file to read: `asked` (the value of --config; of a folder its gradcast.toml), else
/// $GRADCAST_CONFIG, else $XDG_CONFIG_HOME/gradcast/config.toml, else
/// ~/.config/gradcast/config.toml where it exists. "" for no file, as also for "none".
std::string config_path(const std::string& asked);

/// The values that environment and file set for the flags of a command, each flag once, in the
/// order of the command's flags. A value that begins with ./ in the file is a path beside the file.
/// The environment comes before the file, and in the file the
/// command's own table comes first. Nothing for a command without --config. Throws DataError for a
/// file that cannot be read, and for a key or table that no command knows, also in another
/// command's table; UsageError for a wrong environment variable.
std::vector<KeptValue> kept_values(const CommandInfo& command, const std::string& config_file);

}  // namespace gradcast
