// The way from the command line to a command, and from exceptions to exit codes.
#include "sim/cli/cli.hpp"

#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "kernels/compressor.hpp"
#include "sim/base/error.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/inputs/compressor_file.hpp"
#include "sim/options/color.hpp"

namespace gradcast {

namespace {

/// `words` as if they stood after "gradcast".
int run_words(std::vector<const char*> words);

int run_command(int argc, const char* const* argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "--version") {  // and what follows it: --verbose
    std::vector<const char*> words(argv + 1, argv + argc);
    words[0] = "version";
    return run_words(std::move(words));
  }
  if (name == "--help" || name == "-h") return run_words({"help"});
  std::vector<std::string> known;
  for (const Command& command : all_commands()) {
    if (command.name == name) return command.run(argc - 1, argv + 1);
    known.emplace_back(command.name);
  }
  if (name.empty()) throw UsageError("a command is missing; see `gradcast --help`");
  if (name.starts_with("-"))
    throw UsageError("'" + name + "' stands where a command should; flags come after it: " +
                     "`gradcast <command> [flags]`" + did_you_mean(name, {"--help", "--version"}));
  const std::string suggestion = did_you_mean(name, known);
  throw UsageError("unknown command '" + name + "'" +
                   (suggestion.empty() ? "; see `gradcast --help`" : suggestion));
}

int run_words(std::vector<const char*> words) {
  words.insert(words.begin(), "gradcast");
  return run_command(static_cast<int>(words.size()), words.data());
}

/// Sets the colour for printing the error of a command line that may be wrong.
void choose_color_of(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) try {
      if (words[i].starts_with("--color=")) choose_color(parse_color(words[i].substr(8)));
      if (words[i] == "--color" && i + 1 < words.size()) choose_color(parse_color(words[i + 1]));
    } catch (const ValueError&) {  // the command reports it
    }
}

std::string program_name() { return bold_red(StandardStream::Error, "gradcast:"); }

int complain(const std::string& what, ExitCode code) {
  std::fprintf(stderr, "%s %s\n", program_name().c_str(), what.c_str());
  return static_cast<int>(code);
}

}  // namespace

int run_cli(int argc, const char* const* argv) {
  set_known_commands(describe_all);
  set_compressor_source(find_described);
  choose_color_of({argv, argv + argc});
  end_when_interrupted(program_name());
  try {
    return run_command(argc, argv);
  } catch (const std::exception& error) {
    if (const std::optional<Error> mendable = as_error(error))
      return complain(mendable->what(), mendable->code());
    return complain("internal error: " + one_line(error.what()), ExitCode::Failure);
  }
}

}  // namespace gradcast
