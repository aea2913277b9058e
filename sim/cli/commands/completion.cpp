// `gradcast completion`: scripts for shells.
#include "sim/cli/completion/completion.hpp"

#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/options/flags.hpp"

namespace gradcast::commands {
namespace {

std::string script_for(const std::string& shell) {
  if (shell == "bash") return bash_completion(describe_all());
  if (shell == "zsh") return zsh_completion(describe_all());
  if (shell == "fish") return fish_completion(describe_all());
  throw UsageError("unknown shell '" + shell + "'" + did_you_mean(shell, {"bash", "zsh", "fish"}) +
                   " (known: bash, zsh, fish)");
}

}  // namespace

int completion(int argc, const char* const* argv) {
  Flags flags(
      "completion",
      "Prints a script that completes gradcast's commands, flags and names. An installed\ngradcast "
      "comes with these scripts. Otherwise one of these lines adds it to a shell:",
      {"completion bash > g.bash; . ./g.bash",
       "completion zsh > ~/.zfunc/_gradcast  # a folder of $fpath", "completion fish | source"});
  flags.without_format();
  flags.without_config();
  flags.add_words("SHELL", "bash, zsh or fish", 1);
  flags.add("names", "print the names of a kind instead of a script; the scripts ask for them");
  if (!flags.parse(argc, argv)) return 0;
  if (flags.given("names")) {
    if (!flags.words().empty()) throw UsageError("--names prints no script: leave the shell out");
    const std::vector<std::string> names = flags.value("names", names_of_kind);
    flags.deliver(names.empty() ? "" : join(names, "\n") + "\n");
    return 0;
  }
  if (flags.words().empty()) throw UsageError("the shell is missing: bash, zsh or fish");
  flags.deliver(script_for(flags.words()[0]));
  return 0;
}

}  // namespace gradcast::commands
