// Completion of the command line: scripts for shells, and the names that they ask for.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/options/command_info.hpp"

namespace gradcast {

/// What a flag's value may be, or a command's words.
struct ValueKind {
  std::string_view of;     // the flag's name, or what stands for the words: "SHELL"
  std::string_view names;  // of `gradcast completion --names`: "models"; "" for none
  std::string_view words;  // that are always right: "yes no"
  bool files = false;      // or any file
  bool list = false;       // several, with commas between
};

/// Of the flags and words that something is known of.
std::span<const ValueKind> all_value_kinds();

/// nullptr where nothing is known.
const ValueKind* find_value_kind(std::string_view of);

/// Of a flag's value: the table's, and where that has none a flag whose value is called FILE takes
/// any file; else nothing is offered.
ValueKind value_kind_of(const FlagInfo& flag);

/// Of a command's words; any file where the table knows nothing.
ValueKind value_kind_of_words(const CommandInfo& command);

/// What may stand after `completion --names`.
std::vector<std::string> name_kinds();

/// The names of a kind, as this build and its data files have them now. Throws ValueError for an
/// unknown kind.
std::vector<std::string> names_of_kind(const std::string& kind);

std::string bash_completion(const std::vector<CommandInfo>& commands);
std::string zsh_completion(const std::vector<CommandInfo>& commands);
std::string fish_completion(const std::vector<CommandInfo>& commands);

}  // namespace gradcast
