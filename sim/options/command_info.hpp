// The flags and words of a command, as data. --help, completion, man pages and the keys of config
// files are made from it.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace gradcast {

/// Kind of entry that a command writes at the place that a flag names.
enum class Writes { Nothing, File, Folder };

struct FlagInfo {
  std::string name;      // "jobs"
  char letter = 0;       // 'j' of "j,jobs"; 0 for none
  std::string value;     // "VALUE", "FILE", "FOLDER"; "" for a switch
  std::string help;      // one line
  std::string fallback;  // "" for none
  Writes writes = Writes::Nothing;

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

/// If this stands in place of the first flag, Flags::parse throws the CommandInfo instead of
/// parsing. So a command runs only until it has declared its flags.
inline constexpr char kDescribe[] = "--describe";

/// Sets how all commands are listed. Commands are on a higher floor than this file, so the program
/// sets it once, as it starts.
using ListCommands = std::vector<CommandInfo> (*)();
void set_known_commands(ListCommands list);

/// All commands of the program. Throws std::logic_error if the program did not set how to list
/// them.
std::vector<CommandInfo> known_commands();

}  // namespace gradcast
