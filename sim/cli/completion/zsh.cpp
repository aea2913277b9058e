#include <algorithm>

#include "sim/base/text.hpp"
#include "sim/cli/completion/completion.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kZshHelpers = R"zsh(#compdef gradcast
# zsh completion of gradcast; made by `gradcast completion zsh`

# Names of $1, words of $2 (commas between), files; of a list the last entry. "-" is none.
_gradcast_values() {
  local -a offered
  [[ $2 != - ]] && offered=(${(s:,:)2})
  [[ $1 != - ]] && offered+=(${(f)"$($program completion --names $1 2>/dev/null)"})
  [[ $4 == list ]] && compset -P '*,'
  (( $#offered )) && compadd -a offered
  [[ $3 == files ]] && _files
}

_gradcast() {
  local program=$words[1] command=$words[2]
  local -a commands
)zsh";

constexpr std::string_view kAnyCommand = R"zsh(  )
  if (( CURRENT == 2 )); then
    if [[ $PREFIX == -* ]]; then compadd -- --help --version; else _describe command commands; fi
    return
  fi
  shift words
  (( CURRENT-- ))
  case $command in
)zsh";

constexpr std::string_view kEnd = R"zsh(  esac
}

if [[ $funcstack[1] == _gradcast ]]; then _gradcast "$@"; else compdef _gradcast gradcast; fi
)zsh";

/// Between single quotes; `special` letters behind backslashes.
std::string zsh_escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char letter : text) {
    if (special.find(letter) != std::string_view::npos) result += '\\';
    result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return result;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string action_of(const ValueKind& kind) {
  std::string words(kind.words);
  std::replace(words.begin(), words.end(), ' ', ',');
  if (kind.names.empty() && words.empty() && !kind.files) return " ";
  return " _gradcast_values " + join({or_dash(std::string(kind.names)), or_dash(words),
                                      kind.files ? "files" : "-", kind.list ? "list" : "-"},
                                     " ");
}

std::string spec_of(const FlagInfo& flag) {
  const std::string equals = flag.is_switch() ? "" : "=";
  const std::string plus = flag.is_switch() ? "" : "+";
  std::string text = "      '--" + flag.name + equals;
  if (flag.letter != 0) {
    const std::string letter = std::string("-") + flag.letter;
    text = "      '(" + letter + " --" + flag.name + ")'{" + letter + plus + ",--" + flag.name +
           equals + "}'";
  }
  text += "[" + zsh_escaped(flag.help, "[]\\") + "]";
  if (!flag.is_switch()) text += ":" + flag.value + ":" + action_of(value_kind_of(flag));
  return text + "'";
}

}  // namespace

std::string zsh_completion(const std::vector<CommandInfo>& commands) {
  std::string text(kZshHelpers);
  text += "  commands=(\n";
  for (const CommandInfo& command : commands)
    text += "    '" + command.name + ":" + zsh_escaped(command.brief, ":\\") + "'\n";
  text += kAnyCommand;
  for (const CommandInfo& command : commands) {
    std::vector<std::string> specs{"    " + command.name + ") _arguments -s -S"};
    for (const FlagInfo& flag : command.flags) specs.push_back(spec_of(flag));
    if (command.most_words > 0)
      specs.push_back("      '*:" + zsh_escaped(command.words, ":\\") + ":" +
                      action_of(value_kind_of_words(command)) + "'");
    text += join(specs, " \\\n") + " ;;\n";
  }
  return text + std::string(kEnd);
}

}  // namespace gradcast
