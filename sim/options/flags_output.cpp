// The files of a command: where its answer goes and in which format, and what must not be written
// over.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"
#include "sim/base/writable.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/options/color.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {
namespace {

/// Whether a flag's value may name a file. Most values are names or numbers, of which a file that
/// was written without an ending may have the same.
bool may_name_file(const FlagInfo& flag, const std::string& value) {
  return flag.writes == Writes::Nothing && flag.name != "title" &&
         (is_path(value) || std::filesystem::path(value).has_extension());
}

/// "-o" or "--timeline": a flag as messages name it.
std::string typed_name(const FlagInfo& flag) {
  return flag.name == "output" ? "-o" : "--" + flag.name;
}

/// ".json" of "a.JSON"; "" of a name without an ending.
std::string ending_of(const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  return ending == "." ? "" : in_lower_case(ending);
}

/// Whether a file is one of those that commands find by their names, or would be.
bool is_found_by_name(const std::filesystem::path& file) {
  try {
    return DataFiles::standard().holds(file);
  } catch (const Error&) {  // there is no data folder: who needs one says so
    return false;
  }
}

}  // namespace

void Flags::answer_ends_in(std::vector<std::string> endings, const std::string& help) {
  endings_ = std::move(endings);
  for (FlagInfo& flag : info_.flags)
    if (flag.name == "output") flag.help = help;
}

void Flags::require_writable() const {
  for (const FlagInfo& flag : info_.flags) {
    if (flag.writes == Writes::Nothing || !given(flag.name)) continue;
    const bool output = flag.name == "output";
    const std::string place = line_.find(flag.name)->value;
    if (output && place == "-") continue;
    // With --shard -o is a folder where shards meet. `sweep` refuses other folders in its own
    // words.
    std::error_code ignored;
    if (flag.writes == Writes::Folder || (output && given("shard")))
      require_folder_writable(place);
    else if (!(output && command() == "sweep" && std::filesystem::is_directory(place, ignored)))
      require_file_writable(place);
  }
}

void Flags::require_known_ending() const {
  const std::string file = answer_file();
  const std::string ending = ending_of(file);
  // With --shard -o is a folder, whose name may have a point.
  if (ending.empty() || !has("format") || given("format") || given("shard")) return;
  if (ending.find_first_not_of(".0123456789") == ending.npos) return;  // a version: run-2.5
  if (std::find(endings_.begin(), endings_.end(), ending) != endings_.end()) return;
  // The file of two flags is refused by the command, in its own words.
  for (const FlagInfo& flag : info_.flags)
    if (flag.writes == Writes::File && flag.name != "output" && given(flag.name) &&
        written(flag.name) == file)
      return;
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored))
    return;  // a pipe, or a folder, which is refused in other words
  throw UsageError("-o: '" + file + "' ends in " + ending + ", which is no format here (known: " +
                   join(endings_) + "); name one of these, or say the format by --format");
}

void Flags::refuse_to_overwrite(const std::filesystem::path& read) const {
  for (const FlagInfo& flag : info_.flags) {
    if (flag.writes != Writes::File || !given(flag.name)) continue;
    const std::string place = line_.find(flag.name)->value;
    std::error_code ignored;
    // A terminal or a pipe may be read and written.
    if (place == "-" || !std::filesystem::is_regular_file(place, ignored)) continue;
    if (std::filesystem::equivalent(place, read, ignored))
      throw UsageError(typed_name(flag) + ": '" + place +
                       "' is what this command reads; write to another file");
  }
}

void Flags::require_no_overwriting() const {
  for (const FlagInfo& flag : info_.flags) {
    if (flag.writes != Writes::File || !given(flag.name)) continue;
    // The file of `calibrate` grows: it is read, and keeps what it has.
    if (flag.name == "output" && command() == "calibrate") continue;
    const std::string place = line_.find(flag.name)->value;
    if (is_found_by_name(place))
      throw UsageError(typed_name(flag) + ": '" + place +
                       "' lies where commands find data files by name; write to another file");
  }
  for (const std::string& word : words()) refuse_to_overwrite(word);
  if (!config_file_.empty()) refuse_to_overwrite(config_file_);
  for (const GivenFlag& flag : line_.flags) {
    if (!may_name_file(flag_named(flag.name), flag.value)) continue;
    refuse_to_overwrite(flag.value);
    for (const std::string& value : split_words(flag.value, ',')) refuse_to_overwrite(value);
  }
}

std::string Flags::answer_file() const {
  const std::string file = output_is_answer_ ? written("output") : "";
  return file == "-" ? "" : file;
}

Format Flags::format() const {
  if (info_.find("format") == nullptr) return Format::Table;
  std::string name = text("format");
  const std::string file = answer_file();
  const std::string ending = ending_of(file);
  if (!given("format") && ending == ".csv") name = "csv";
  if (!given("format") && ending == ".json") name = "json";
  if (name == "table") return Format::Table;
  if (name == "csv") return Format::Csv;
  if (name == "json") return Format::Json;
  throw complaint("format", "'" + name + "' is not table, csv or json");
}

void Flags::deliver(std::string_view content) const {
  if (const std::string file = answer_file(); !file.empty())
    write_text_file(file, content);
  else
    write_stdout(content);
}

void Flags::deliver_table(std::string_view content) const {
  const bool colored = answer_file().empty() && is_colored(StandardStream::Output);
  deliver(colored ? with_bold_headers(content) : std::string(content));
}

}  // namespace gradcast
