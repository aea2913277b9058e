// The flags of one command: every value is text until the command parses it, and
// every complaint names the flag.
#pragma once
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
  /// `examples`: command lines, shown before the flags. `output`: what -o names, in a command whose
  /// answer does not go there but always to standard output.
  Flags(std::string command, const std::string& summary, const std::vector<std::string>& examples,
        const std::string& output = "");

  /// A flag with a value. `fallback` is used where it is not given; "" is none. A name may have a
  /// letter before it: "j,jobs".
  void add(const std::string& name, const std::string& help, const std::string& fallback = "");

  /// A flag without a value: `--sweep`.
  void add_switch(const std::string& name, const std::string& help);

  /// Words without a flag, up to `most` of them: "PLAN.toml". Without this a command takes none.
  void add_words(const std::string& what, const std::string& help, std::size_t most);

  /// For a command whose answer is a text, of which there is one format.
  void without_format();
  /// For a command that must answer also where the config file is wrong.
  void without_config();

  /// The command line, and what environment and config file say of flags that are not in it: those
  /// count as given. Throws UsageError, DataError for the config file, and a CommandInfo where the
  /// command line is kDescribe. False when help was asked for and has been printed: nothing is left
  /// to do.
  bool parse(int argc, const char* const* argv);

  const std::string& command() const { return info_.name; }
  /// The flags that this command added, in their order, without those that every command has.
  std::vector<std::string> own_names() const;
  /// On the command line, not by environment or config file.
  bool typed(const std::string& name) const { return given(name) && !kept_.contains(name); }
  bool given(const std::string& name) const;
  /// Words without a flag, in their order.
  const std::vector<std::string>& words() const { return line_.words; }
  /// The value or the fallback.
  std::string text(const std::string& name) const;
  /// The same through a parser of units.hpp; its ValueError becomes a UsageError with the flag's
  /// name, or a DataError with the line of the config file that says it.
  template <class Parse>
  auto value(const std::string& name, Parse parse) const {
    try {
      return parse(text(name));
    } catch (const ValueError& error) {
      throw complaint(name, error.what());
    }
  }

  /// --format, else what the answer's file ends in, else a table.
  Format format() const;
  bool quiet() const { return given("quiet"); }
  /// To the answer's file, whole or not at all, or to standard output.
  void deliver(std::string_view content) const;
  /// The same of tables for people: with bold headers where standard output has colours.
  void deliver_table(std::string_view content) const;
  /// A line on standard error, unless -q.
  void note(const std::string& line) const;

  /// The command line in long flags, words last, without what does not change the answer (-j,
  /// --shard, -o, -q, --color). What came from environment and config file stands there as typed.
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  /// Words to put before what was typed.
  std::vector<std::string> keep_values();
  void require_known() const;
  void require_values() const;
  bool is_switch(const std::string& name) const;
  /// To throw: names the flag, or where its value came from.
  Error complaint(const std::string& name, const std::string& what) const;
  /// -o's, "" for standard output.
  std::string answer_file() const;

  CommandInfo info_;
  bool output_is_answer_;
  std::map<std::string, KeptValue> kept_;
  CommandLine line_;
  std::vector<std::string> arguments_;
};

}  // namespace gradcast
