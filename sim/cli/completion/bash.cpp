#include <map>

#include "sim/base/text.hpp"
#include "sim/cli/completion/completion.hpp"

namespace gradcast {
namespace {

// Words that COMP_WORDBREAKS cuts at "=" are put together again: "--model=res" comes as three
// words. The script asks for names when they are needed, and asks the gradcast that is being typed,
// so that a file that a person added is among them.
constexpr std::string_view kBashHelpers =
    R"(# bash completion of gradcast; made by `gradcast completion bash`

# The words of $2, the names of $1 and, where $3 says so, files, as far as they begin with $cur.
# Where $4 says so $cur is a list, and its last entry is completed.
_gradcast_offer() {
  local IFS=$'\n' words=${2// /$'\n'} before=""
  [ -n "$1" ] && words+=$'\n'$("$program" completion --names "$1" 2>/dev/null)
  if [ "${4-}" = list ] && [[ $cur == *,* ]]; then
    before=${cur%,*},
  fi
  COMPREPLY=($(compgen -P "$before" -W "$words" -- "${cur#"$before"}"))
  if [ "${3-}" = files ]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$cur"))
  fi
}

_gradcast() {
  local program=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  local command=${COMP_WORDS[1]-} flags=""
  COMPREPLY=()
  if [ "$cur" = "=" ]; then
    cur=""
  elif [ "$prev" = "=" ]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
)";

std::string bash_quoted(const std::string& text) { return "\"" + text + "\""; }

std::string bash_offer(const ValueKind& kind) {
  return "_gradcast_offer " + bash_quoted(std::string(kind.names)) + " " +
         bash_quoted(std::string(kind.words)) + " " + bash_quoted(kind.files ? "files" : "") + " " +
         bash_quoted(kind.list ? "list" : "");
}

}  // namespace

std::string bash_completion(const std::vector<CommandInfo>& commands) {
  std::string text(kBashHelpers);
  std::vector<std::string> names;
  // The offered words, and the "command:flag" after which they are offered.
  std::map<std::string, std::vector<std::string>> offers;
  std::string cases;
  for (const CommandInfo& command : commands) {
    names.push_back(command.name);
    std::vector<std::string> flags;
    for (const FlagInfo& flag : command.flags) {
      flags.push_back("--" + flag.name);
      if (flag.letter != 0) flags.push_back(std::string("-") + flag.letter);
      if (flag.is_switch()) continue;
      const std::string offer = bash_offer(value_kind_of(flag));
      offers[offer].push_back(command.name + ":--" + flag.name);
      if (flag.letter != 0) offers[offer].push_back(command.name + ":-" + flag.letter);
    }
    cases += "    " + command.name + ")\n      flags=" + bash_quoted(join(flags, " ")) + "\n";
    if (command.most_words > 0)
      cases += "      [[ $cur == -* ]] || { " + bash_offer(value_kind_of_words(command)) +
               "; return; } ;;\n";
    else
      cases += "      ;;\n";
  }
  text += "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    _gradcast_offer \"\" " +
          bash_quoted(join(names, " ") + " --help --version") +
          "\n    return\n  fi\n  case \"$command:$prev\" in\n";
  for (const auto& [offer, where] : offers)
    text += "    " + join(where, "|") + ")\n      " + offer + "; return ;;\n";
  return text + "  esac\n  case \"$command\" in\n" + cases +
         "  esac\n  _gradcast_offer \"\" \"$flags\"\n}\n\ncomplete -F _gradcast gradcast\n";
}

}  // namespace gradcast
