// What a command takes, as data: from it come --help, completion, man pages, and what a config file
// may say.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace gradcast {

struct Command;

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
  std::string brief;    // one line, of commands.def; only describe() knows it
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

/// What a command takes, without running it. Throws std::logic_error for one without flags.
CommandInfo describe(const Command& command);

/// Of every command, in their order.
std::vector<CommandInfo> describe_all();

}  // namespace gradcast
