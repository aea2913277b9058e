// What a command takes, as data: from it come --help, completion, man pages, and what a config file
// may say.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace gradcast {

struct FlagInfo {
  std::string name;      // "jobs"
  char letter = 0;       // 'j' of "j,jobs"; 0 for none
  std::string value;     // "VALUE", "FILE"; "" for a switch
  std::string help;      // one line
  std::string fallback;  // "" for none

  bool is_switch() const { return value.empty(); }
};

struct CommandInfo {
  std::string name;
  std::string brief;    // one line, of the table of commands: a command does not know its own
  std::string summary;  // above the flags
  std::vector<std::string> examples;  // without "gradcast "
  std::vector<FlagInfo> flags;        // in the order of --help
  std::string words;                  // "PLAN.toml"; "" for a command that takes none
  std::string words_help;
  std::size_t most_words = 0;
  std::string help;  // as --help prints it

  /// nullptr where there is none of that name.
  const FlagInfo* find(const std::string& flag) const;
};

/// Stands where a command line has its first flag: Flags::parse then throws the CommandInfo instead
/// of parsing. A command runs up to its flags, and no further.
inline constexpr char kDescribe[] = "--describe";

/// How every command is listed. The commands are above this floor: the program says it here once,
/// as it starts.
using ListCommands = std::vector<CommandInfo> (*)();
void set_known_commands(ListCommands list);

/// Every command of the program. Throws std::logic_error where the program did not say how.
std::vector<CommandInfo> known_commands();

}  // namespace gradcast
