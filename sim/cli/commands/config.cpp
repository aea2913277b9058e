// `gradcast config`: the values of flags, and their origins.
#include <algorithm>

#include "sim/answers/answer.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"

namespace gradcast::commands {
namespace {

/// The commands to show: the one that was named, else all.
std::vector<CommandInfo> chosen_commands(const std::vector<std::string>& words) {
  std::vector<CommandInfo> all = describe_all();
  if (words.empty()) return all;
  std::vector<std::string> known;
  for (CommandInfo& command : all) {
    if (command.name == words[0]) return {std::move(command)};
    known.push_back(command.name);
  }
  throw UsageError("unknown command '" + words[0] + "'" + did_you_mean(words[0], known) +
                   " (known: " + join(known) + ")");
}

}  // namespace

int config(int argc, const char* const* argv) {
  Flags flags(
      "config",
      "Shows the values of flags that the environment and the config file set, for every "
      "command,\nand where each comes from. With a command's name it shows its defaults too.",
      {"config", "config simulate", "config simulate --config mine.toml --format json"});
  flags.add_words("COMMAND", "a command whose defaults are to be shown too", 1);
  if (!flags.parse(argc, argv)) return 0;
  const std::string path = config_path(flags.text("config"));
  const bool with_defaults = !flags.words().empty();
  TextTable table{{"command", "flag", "value", "from"}, {}};
  std::vector<Json> rows;
  for (const CommandInfo& command : chosen_commands(flags.words())) {
    const std::vector<KeptValue> kept = kept_values(command, flags.text("config"));
    for (const FlagInfo& flag : command.flags) {
      const auto found = std::find_if(kept.begin(), kept.end(), [&](const KeptValue& value) {
        return value.flag == flag.name;
      });
      if (found == kept.end() && (!with_defaults || flag.fallback.empty())) continue;
      const std::string value = found == kept.end() ? flag.fallback : found->value;
      const std::string origin = found == kept.end() ? "default" : found->origin;
      table.rows.push_back({command.name, "--" + flag.name, value, origin});
      rows.push_back(
          {{"command", command.name}, {"flag", flag.name}, {"value", value}, {"from", origin}});
    }
  }
  deliver(flags, {}, "", {to_text(table), rows});
  flags.note(path.empty() ? "no config file is read; see `gradcast help config`"
                          : "the config file is " + path);
  return 0;
}

}  // namespace gradcast::commands
