#include "sim/options/config.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/toml_file.hpp"

namespace gradcast {
namespace {

/// Flags that belong to one run only.
constexpr std::array<std::string_view, 7> kOnlyTyped = {"output",   "config", "help", "shard",
                                                        "timeline", "paje",   "plot"};

/// Variables with another meaning, whatever the names of flags are.
constexpr std::array<std::string_view, 3> kNoFlags = {"GRADCAST_DATA", "GRADCAST_CONFIG",
                                                      "GRADCAST_PYTHON"};

std::string variable(const std::string& name) {
  const char* text = std::getenv(name.c_str());
  return text == nullptr ? "" : text;
}

std::vector<std::string> names_kept(const CommandInfo& command) {
  std::vector<std::string> names;
  if (command.find("config") == nullptr) return names;
  for (const FlagInfo& flag : command.flags)
    if (may_be_kept(flag.name)) names.push_back(flag.name);
  return names;
}

/// A value of the file, where it may be a path beside the file.
std::string beside(const TomlFile& file, const std::string& value) {
  if (!value.starts_with("./")) return value;
  return (std::filesystem::path(file.path).parent_path() / value).lexically_normal().string();
}

/// The value as it would be typed.
std::string typed_value(const TomlFile& file, const TomlEntry& entry, const FlagInfo& flag) {
  const auto refuse = [&](const std::string& why) {
    return DataError(file.path, entry.line, "'" + entry.key + "' " + why);
  };
  if (entry.values.empty()) throw refuse("is an empty list");
  if (flag.is_switch()) {
    if (entry.kind != TomlKind::Boolean || entry.is_list)
      throw refuse("is on or off; write true or false");
    return entry.values[0];
  }
  if (entry.kind != TomlKind::Boolean) {
    std::vector<std::string> values;
    for (const std::string& value : entry.values) values.push_back(beside(file, value));
    return join(values, ",");
  }
  if (entry.is_list) throw refuse("is no list of true and false");
  return entry.values[0] == "true" ? "yes" : "no";  // of --overlap
}

/// An entry that no command understands is a typing error, so it is refused whichever command runs.
void require_known(const TomlFile& file, const std::vector<CommandInfo>& commands) {
  std::vector<std::string> tables;
  std::vector<std::string> all_flags;
  for (const CommandInfo& command : commands) {
    tables.push_back(command.name);
    for (const std::string& name : names_kept(command))
      if (std::find(all_flags.begin(), all_flags.end(), name) == all_flags.end())
        all_flags.push_back(name);
  }
  for (const TomlTable& table : file.tables)
    if (std::find(tables.begin(), tables.end(), table.name) == tables.end())
      throw DataError(
          file.path, table.line,
          "there is no command '" + table.name + "'" + did_you_mean(table.name, tables));
  for (const TomlEntry& entry : file.entries) {
    if (std::find(kOnlyTyped.begin(), kOnlyTyped.end(), entry.key) != kOnlyTyped.end())
      throw DataError(file.path, entry.line,
                      "--" + entry.key + " belongs on the command line, not in a file");
    const auto of_table = std::find_if(commands.begin(), commands.end(), [&](const auto& command) {
      return command.name == entry.table;
    });
    const std::vector<std::string> known =
        of_table == commands.end() ? all_flags : names_kept(*of_table);
    const std::string who =
        of_table == commands.end() ? "no command has a" : "'" + entry.table + "' has no";
    if (std::find(known.begin(), known.end(), entry.key) == known.end())
      throw DataError(file.path, entry.line,
                      who + " flag '" + entry.key + "'" + did_you_mean(entry.key, known));
    for (const CommandInfo& command : commands)
      if (entry.table.empty() || entry.table == command.name)
        if (const FlagInfo* flag = command.find(entry.key))
          static_cast<void>(typed_value(file, entry, *flag));
  }
}

std::map<std::string, KeptValue> values_of_file(const CommandInfo& command,
                                                const std::string& path) {
  std::map<std::string, KeptValue> values;
  if (path.empty()) return values;
  const TomlFile file = load_toml(read_text_file(path));
  require_known(file, known_commands());
  // The command's own table comes second, and wins.
  for (const std::string& table : {std::string(), command.name})
    for (const TomlEntry& entry : file.entries) {
      const FlagInfo* flag = command.find(entry.key);
      if (entry.table == table && flag != nullptr)
        values[flag->name] = {flag->name, typed_value(file, entry, *flag),
                              file.path + ":" + std::to_string(entry.line), file.path, entry.line};
    }
  return values;
}

std::string switch_value(const std::string& name, const std::string& text) {
  if (text == "true" || text == "yes" || text == "1") return "true";
  if (text == "false" || text == "no" || text == "0") return "false";
  throw UsageError(name + ": '" + text + "' is not true or false");
}

}  // namespace

std::string variable_of(const std::string& flag) {
  std::string name = "GRADCAST_" + flag;
  for (char& letter : name)
    letter =
        letter == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return name;
}

bool may_be_kept(const std::string& flag) {
  return std::find(kOnlyTyped.begin(), kOnlyTyped.end(), flag) == kOnlyTyped.end();
}

std::string config_path(const std::string& asked) {
  const std::string chosen = asked.empty() ? variable("GRADCAST_CONFIG") : asked;
  std::error_code ignored;
  if (chosen == "none") return "";
  if (!chosen.empty())
    return std::filesystem::is_directory(chosen, ignored)
               ? (std::filesystem::path(chosen) / kFolderConfig).string()
               : chosen;
  std::filesystem::path folder = variable("XDG_CONFIG_HOME");
  if (folder.empty()) {
    const std::string home = variable("HOME");
    if (home.empty()) return "";
    folder = std::filesystem::path(home) / ".config";
  }
  const std::filesystem::path path = folder / "gradcast" / "config.toml";
  return std::filesystem::exists(path, ignored) ? path.string() : "";
}

std::vector<KeptValue> kept_values(const CommandInfo& command, const std::string& config_file) {
  std::vector<KeptValue> values;
  if (command.find("config") == nullptr) return values;
  std::map<std::string, KeptValue> of_file = values_of_file(command, config_path(config_file));
  for (const FlagInfo& flag : command.flags) {
    if (!may_be_kept(flag.name)) continue;
    const std::string name = variable_of(flag.name);
    const bool is_flag = std::find(kNoFlags.begin(), kNoFlags.end(), name) == kNoFlags.end();
    if (const std::string text = is_flag ? variable(name) : ""; !text.empty())
      values.push_back({flag.name, flag.is_switch() ? switch_value(name, text) : text, name});
    else if (const auto found = of_file.find(flag.name); found != of_file.end())
      values.push_back(found->second);
  }
  return values;
}

}  // namespace gradcast
