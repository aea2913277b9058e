// The flags of one command, over cxxopts: every value is text until the command parses it, and
// every complaint names the flag.
#pragma once
// Lists are ours to split: a file's name may have a comma.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <cxxopts.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/error.hpp"

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

  /// Throws UsageError. False when help was asked for and has been printed: nothing is left to do.
  bool parse(int argc, const char* const* argv);

  const std::string& command() const { return command_; }
  /// The flags that this command added, in their order, without those that every command has.
  const std::vector<std::string>& own_names() const { return own_names_; }
  bool given(const std::string& name) const;
  /// Words without a flag, in their order.
  std::vector<std::string> words() const;
  /// The value or the fallback.
  std::string text(const std::string& name) const;
  /// The same through a parser of units.hpp; its ValueError becomes a UsageError with the flag's
  /// name.
  template <class Parse>
  auto value(const std::string& name, Parse parse) const {
    try {
      return parse(text(name));
    } catch (const ValueError& error) {
      throw UsageError("--" + name + ": " + error.what());
    }
  }

  /// --format, else what the answer's file ends in, else a table.
  Format format() const;
  bool quiet() const { return parsed_->count("quiet") > 0; }
  /// To the answer's file, whole or not at all, or to standard output.
  void deliver(std::string_view content) const;
  /// A line on standard error, unless -q.
  void note(const std::string& line) const;

  /// The command line in long flags, words last, without what does not change the answer (-j,
  /// --shard, -o, -q).
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  void require_known(const std::vector<std::string>& unmatched) const;
  /// -o's, "" for standard output.
  std::string answer_file() const;

  std::string command_;
  bool output_is_answer_;
  std::size_t most_words_ = 0;
  std::vector<std::string> own_names_;
  std::set<std::string> switches_{"quiet", "help"};
  cxxopts::Options options_;
  std::optional<cxxopts::ParseResult> parsed_;
  std::vector<std::string> arguments_;
};

}  // namespace gradcast
