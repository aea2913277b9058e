#include "sim/library/call.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include "kernels/compressor.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/inputs/compressor_file.hpp"
#include "sim/options/command_info.hpp"

namespace gradcast {
namespace {

namespace fs = std::filesystem;

/// Sets once what the program sets as it starts: the commands and the source of compressors.
void set_up_once() {
  static std::once_flag done;
  std::call_once(done, [] {
    set_known_commands(describe_all);
    set_compressor_source(find_described);
  });
}

const Command& command_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Command& command : all_commands()) {
    if (command.name == name) return command;
    known.emplace_back(command.name);
  }
  throw UsageError("unknown command '" + name + "'" + did_you_mean(name, known));
}

/// The flags of a command, which never change.
const CommandInfo& info_of(const Command& command) {
  static std::mutex lock;
  static std::map<std::string_view, CommandInfo> known;
  const std::lock_guard held(lock);
  const auto at = known.find(command.name);
  return at != known.end() ? at->second
                           : known.emplace(command.name, describe(command)).first->second;
}

/// "nic-bandwidth" of "nic_bandwidth". Throws UsageError for what could not be a flag's name:
/// within a word of a command line it might say something else.
std::string flag_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  const bool plain = !name.empty() && name.front() != '-' &&
                     std::all_of(name.begin(), name.end(), [](unsigned char letter) {
                       return std::islower(letter) || std::isdigit(letter) || letter == '-';
                     });
  if (!plain) throw UsageError("unknown setting '" + name + "'");
  return name;
}

std::vector<std::string> words_of(const Call& call, const CommandInfo& info) {
  std::vector<std::string> words{call.command};
  for (const auto& [typed, value] : call.settings) {
    const std::string name = flag_name(typed);
    const FlagInfo* flag = info.find(name);
    if (value.find('\0') != std::string::npos)
      throw UsageError("--" + name + ": the value has a zero byte");
    if (flag == nullptr || !flag->is_switch()) {
      words.push_back("--" + name + "=" + value);
      continue;
    }
    if (value != "yes" && value != "no")
      throw UsageError("--" + name + ": '" + value + "' is not yes or no");
    if (value == "yes") words.push_back("--" + name);
  }
  if (!call.words.empty()) words.emplace_back("--");
  words.insert(words.end(), call.words.begin(), call.words.end());
  return words;
}

bool may_hold_data(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "models", ignored) &&
         fs::is_directory(folder / "traces", ignored);
}

}  // namespace

int run_call(const Call& call, const DataFiles& files, Caller& caller) {
  set_up_once();
  const WorksForCaller works(caller);  // before a command is asked for its flags: it is called then
  const Command& command = command_named(call.command);
  const std::vector<std::string> words = words_of(call, info_of(command));
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  const StandardFiles standard(files);
  return command.run(static_cast<int>(pointers.size()), pointers.data());
}

DataFiles library_files(const std::string& folder) {
  set_up_once();
  fs::path chosen = folder;
  // Without a folder of its own this would look beside the current one.
  if (const fs::path own = folder_of_code(); folder.empty() && !own.empty())
    for (const fs::path& above : {fs::path(".."), fs::path("..") / ".."})
      if (const fs::path shared = own / above / "share" / "gradcast";
          chosen.empty() && may_hold_data(shared))
        chosen = shared.lexically_normal();
  if (chosen.empty()) return DataFiles::standard();
  DataFiles::set_standard_folder(chosen);
  return DataFiles(chosen);
}

}  // namespace gradcast
