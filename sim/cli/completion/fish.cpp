#include "sim/base/text.hpp"
#include "sim/cli/completion/completion.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kFishHelpers =
    R"(# fish completion of gradcast; made by `gradcast completion fish`

function __gradcast_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end

function __gradcast_has_no_command
    test (count (commandline -opc)) -eq 1
end

function __gradcast_names
    set -l words (commandline -opc)
    $words[1] completion --names $argv[1] 2>/dev/null
end

complete -c gradcast -n __gradcast_has_no_command -f -a '--help --version'
)";

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + "'";
}

/// -a and what is offered; "" for nothing.
std::string fish_offer(const ValueKind& kind) {
  std::vector<std::string> offered;
  if (!kind.words.empty()) offered.emplace_back(kind.words);
  if (!kind.names.empty()) offered.push_back("(__gradcast_names " + std::string(kind.names) + ")");
  if (offered.empty()) return "";
  const std::string all = join(offered, " ");
  return " -a " + fish_quoted(kind.list ? "(__fish_append , " + all + ")" : all);
}

std::string line_of(const CommandInfo& command, const std::string& rest) {
  return "complete -c gradcast -n " + fish_quoted("__gradcast_is " + command.name) + rest + "\n";
}

}  // namespace

std::string fish_completion(const std::vector<CommandInfo>& commands) {
  std::string text(kFishHelpers);
  for (const CommandInfo& command : commands)
    text += "complete -c gradcast -n __gradcast_has_no_command -f -a " + command.name + " -d " +
            fish_quoted(command.brief) + "\n";
  for (const CommandInfo& command : commands) {
    const ValueKind words = value_kind_of_words(command);
    if (command.most_words == 0)
      text += line_of(command, " -f");
    else
      text += line_of(command, (words.files ? " -F" : " -f") + fish_offer(words));
    for (const FlagInfo& flag : command.flags) {
      std::string rest;
      if (flag.letter != 0) rest += std::string(" -s ") + flag.letter;
      rest += " -l " + flag.name;
      if (!flag.is_switch()) {
        const ValueKind kind = value_kind_of(flag);
        rest += (kind.files ? " -r -F" : " -x") + fish_offer(kind);
      }
      text += line_of(command, rest + " -d " + fish_quoted(flag.help));
    }
  }
  return text;
}

}  // namespace gradcast
