#include "sim/options/command_line.hpp"

// This program splits lists itself, because a file's name may have a comma.
#define CXXOPTS_VECTOR_DELIMITER '\0'
// <regex> takes as long to compile as the rest of this file.
#define CXXOPTS_NO_REGEX
#include <algorithm>
#include <cxxopts.hpp>

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

// cxxopts 3.1 moved its exceptions.
#if CXXOPTS__VERSION_MAJOR == 3 && CXXOPTS__VERSION_MINOR == 0
using ParseError = cxxopts::OptionException;
#else
using ParseError = cxxopts::exceptions::exception;
#endif

/// The name under which cxxopts keeps words that belong to no flag.
const std::string kWords = "words";

std::string description(const std::string& summary, const std::vector<std::string>& examples) {
  std::string text = summary + "\n\nExamples:\n";
  for (const std::string& example : examples) text += "  gradcast " + example + "\n";
  return text;
}

cxxopts::Options options_of(const CommandInfo& command) {
  cxxopts::Options options("gradcast " + command.name,
                           description(command.summary, command.examples));
  options.custom_help("[flags]");
  options.set_width(100);
  options.allow_unrecognised_options();  // refused by the caller, with a suggestion
  for (const FlagInfo& flag : command.flags) {
    const std::string name =
        flag.letter == 0 ? flag.name : std::string(1, flag.letter) + "," + flag.name;
    if (flag.is_switch()) {
      options.add_options()(name, flag.help);
      continue;
    }
    auto value = cxxopts::value<std::string>();
    if (!flag.fallback.empty()) value->default_value(flag.fallback);
    options.add_options()(name, flag.help, value, flag.value);
  }
  if (command.most_words > 0) {
    options.add_options()(kWords, command.words_help, cxxopts::value<std::vector<std::string>>(),
                          command.words);
    options.parse_positional(kWords);
    options.positional_help(command.words);
  }
  return options;
}

/// Refuses "--sweep=yes". The error of cxxopts names the value, not the flag.
void refuse_values_of_switches(const CommandInfo& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos) continue;
    const FlagInfo* flag = command.find(word.substr(2, equals - 2));
    if (flag != nullptr && flag->is_switch())
      throw UsageError(word.substr(0, equals) + " takes no value");
  }
}

/// cxxopts finds no flag in "--model=a" with a line break, and would take it for another word.
void refuse_line_breaks(const CommandInfo& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") return;
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos) continue;
    if (word.find_first_of("\r\n", equals) != std::string::npos &&
        command.find(word.substr(2, equals - 2)) != nullptr)
      throw UsageError(word.substr(0, equals) + ": the value has a line break");
  }
}

cxxopts::ParseResult parsed(const CommandInfo& command, const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  pointers.reserve(words.size());
  for (const std::string& word : words) pointers.push_back(word.c_str());
  try {
    return options_of(command).parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const ParseError& error) {
    refuse_values_of_switches(command, words);
    throw UsageError(std::string(error.what()) + "; see `gradcast " + command.name + " --help`");
  }
}

}  // namespace

const GivenFlag* CommandLine::find(const std::string& name) const {
  const auto found = std::find_if(flags.begin(), flags.end(),
                                  [&](const GivenFlag& flag) { return flag.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

CommandLine parse_command_line(const CommandInfo& command, const std::vector<std::string>& words) {
  refuse_line_breaks(command, words);
  const cxxopts::ParseResult result = parsed(command, words);
  CommandLine line;
  for (const cxxopts::KeyValue& given : result.arguments()) {
    if (given.key() == kWords)
      line.words.push_back(given.value());
    else
      line.flags.push_back({given.key(), given.value()});
  }
  line.unknown = result.unmatched();
  return line;
}

std::string help_text(const CommandInfo& command) { return options_of(command).help(); }

}  // namespace gradcast
