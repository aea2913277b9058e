// Completion of the command line: scripts for shells, and the names for which they ask.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/options/command_info.hpp"

namespace gradcast {

/// The possible values of a flag, or of a command's words.
struct ValueKind {
  std::string_view of;     // the flag's name, or the placeholder of the words: "SHELL"
  std::string_view names;  // kind for `gradcast completion --names`: "models"; "" for none
  std::string_view words;  // always possible: "yes no"
  bool files = false;      // or any file
  bool list = false;       // several, with commas between
};

/// The kinds of all flags and words whose values are known.
std::span<const ValueKind> all_value_kinds();

/// nullptr if nothing is known.
const ValueKind* find_value_kind(std::string_view of);

/// The kind of a flag's value: the one in the table; else any file, if the value is called FILE;
/// else nothing is offered.
ValueKind value_kind_of(const FlagInfo& flag);

/// The kind of a command's words; any file if the table does not have it.
ValueKind value_kind_of_words(const CommandInfo& command);

/// The words that may follow `completion --names`.
std::vector<std::string> name_kinds();

/// The names of a kind in this build and its data files, as they are now. Throws ValueError for an
/// unknown kind.
std::vector<std::string> names_of_kind(const std::string& kind);

std::string bash_completion(const std::vector<CommandInfo>& commands);
std::string zsh_completion(const std::vector<CommandInfo>& commands);
std::string fish_completion(const std::vector<CommandInfo>& commands);

}  // namespace gradcast
