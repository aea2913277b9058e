// Parses a command line, and prints the help for it. Only the .cpp file includes cxxopts, because
// that adds four seconds to the time a file takes to compile.
#pragma once
#include <string>
#include <vector>

#include "sim/options/command_info.hpp"

namespace gradcast {

struct GivenFlag {
  std::string name;   // "jobs", also where its letter was typed
  std::string value;  // of a switch: "true"
};

struct CommandLine {
  std::vector<GivenFlag> flags;      // as typed, in their order
  std::vector<std::string> words;    // without a flag
  std::vector<std::string> unknown;  // what is no flag of the command, and no word that it takes

  /// The first flag of that name; nullptr where there is none.
  const GivenFlag* find(const std::string& name) const;
};

/// `words` begin with the command's name. Unknown flags are not refused here. Throws UsageError for
/// a flag without its value, or a switch with one.
CommandLine parse_command_line(const CommandInfo& command, const std::vector<std::string>& words);

/// The text that --help prints.
std::string help_text(const CommandInfo& command);

}  // namespace gradcast
