// The flags of one command: every value is text until the command parses it, and
// every complaint names the flag.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/options/command_info.hpp"
#include "sim/options/command_line.hpp"
#include "sim/options/config.hpp"

namespace gradcast {

enum class Format { Table, Csv, Json };

class Flags {
 public:
  /// `examples`: command lines, shown before the flags. `output`: the help of -o, for a command
  /// whose answer always goes to standard output, and what that command writes there.
  Flags(std::string command, const std::string& summary, const std::vector<std::string>& examples,
        const std::string& output = "", Writes writes = Writes::File);

  /// Adds a flag with a value. `fallback` is its value if it is not given; "" is none. A name may
  /// have a letter before it: "j,jobs".
  void add(const std::string& name, const std::string& help, const std::string& fallback = "");

  /// Adds a flag that names a file or a folder to write. `parse` refuses a place that cannot be
  /// written, so that this is said before the work. Only written() gives the place.
  void add_written(const std::string& name, Writes writes, const std::string& help);

  /// Adds a flag without a value: `--sweep`.
  void add_switch(const std::string& name, const std::string& help);

  /// Adds words without a flag, up to `most` of them: "PLAN.toml". Without this call a command
  /// takes none.
  void add_words(const std::string& what, const std::string& help, std::size_t most);

  /// The word is a folder whose gradcast.toml has values for flags: short for --config FOLDER.
  void add_folder_word();

  /// The endings that the answer's file may have if --format is not given, in place of .csv, .json,
  /// .txt and .md, and the help of -o.
  void answer_ends_in(std::vector<std::string> endings, const std::string& help);

  /// For a command whose answer is a text with one format only.
  void without_format();
  /// For a command that must answer even if the config file is wrong.
  void without_config();

  /// Parses the command line. Flags that are not in it take their values from environment and
  /// config file, and then count as given. Throws UsageError, DataError for the config file, and a
  /// CommandInfo if the command line is kDescribe. Returns false if help was asked for and has been
  /// printed: nothing is left to do.
  bool parse(int argc, const char* const* argv);

  const std::string& command() const { return info_.name; }
  /// The flags that this command added, in their order, without those that every command has.
  std::vector<std::string> own_names() const;
  /// True if the command has this flag, given or not.
  bool has(const std::string& name) const { return info_.find(name) != nullptr; }
  /// True if the flag is on the command line, not just in environment or config file.
  bool typed(const std::string& name) const { return given(name) && !kept_.contains(name); }
  bool given(const std::string& name) const;
  /// Words without a flag, in their order; without a folder whose values are in the flags.
  const std::vector<std::string>& words() const { return line_.words; }
  /// The value or the fallback. Throws std::logic_error for a flag that names what is written.
  std::string text(const std::string& name) const;
  /// The place that a flag names: -o or one of add_written; "" if it is not given. Throws
  /// std::logic_error for any other flag.
  std::string written(const std::string& name) const;
  /// The value through a parser of units.hpp. The parser's ValueError becomes a UsageError with the
  /// flag's name, or a DataError with the line of the config file that has the value.
  template <class Parse>
  auto value(const std::string& name, Parse parse) const {
    try {
      return parse(typed_or_fallback(name));
    } catch (const ValueError& error) {
      throw complaint(name, error.what());
    }
  }

  /// The format: --format, else the ending of the answer's file, else a table.
  Format format() const;
  bool quiet() const { return given("quiet"); }
  /// Throws UsageError if the command would write to this file, which it reads. `parse` asks for
  /// all files that are flags' values and words; who reads files that other files name asks for
  /// those.
  void refuse_to_overwrite(const std::filesystem::path& read) const;
  /// Writes to the answer's file, whole or not at all, or to standard output.
  void deliver(std::string_view content) const;
  /// The same for tables for people: headers are bold where standard output has colours.
  void deliver_table(std::string_view content) const;
  /// Prints a line on standard error, unless -q is given.
  void note(const std::string& line) const;

  /// The command line in long flags, words last, without what does not change the answer (-j,
  /// --shard, -o, -q, --color). Values from environment and config file are included, as if typed.
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  /// The words to put before those that were typed.
  std::vector<std::string> keep_values();
  void require_known() const;
  void require_values() const;
  /// Throws Error (1) if what is to be written cannot be: an hour's work must not end so.
  void require_writable() const;
  /// Throws UsageError for an answer's file whose ending names a format that nobody writes.
  void require_known_ending() const;
  /// Throws UsageError if a flag or word names the same file as one that is written, or if that is
  /// a file of the data folder, which other commands find by its name.
  void require_no_overwriting() const;
  bool is_switch(const std::string& name) const;
  /// Throws std::logic_error for a flag that this command lacks.
  const FlagInfo& flag_named(const std::string& name) const;
  std::string typed_or_fallback(const std::string& name) const;
  /// The error to throw: it names the flag, or where its value came from.
  Error complaint(const std::string& name, const std::string& what) const;
  /// The file of -o; "" for standard output.
  std::string answer_file() const;

  CommandInfo info_;
  bool output_is_answer_;
  bool folder_word_ = false;
  std::vector<std::string> endings_{".csv", ".json", ".txt", ".md"};
  std::string config_file_{};  // that was read; "" for none
  std::map<std::string, KeptValue> kept_;
  CommandLine line_;
  std::vector<std::string> arguments_;
};

/// The -j flag, the same for every command that works in several processes or threads.
void add_jobs_flag(Flags& flags);

/// The number of processes: -j, else the number of cores that this process may use.
std::size_t chosen_jobs(const Flags& flags);

}  // namespace gradcast
