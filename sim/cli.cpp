// From the command line to a command, and from exceptions to exit codes.
#include "sim/cli.hpp"

#include <cstdio>
#include <exception>
#include <string>

#include "sim/command.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/text_file.hpp"

namespace gradcast {

namespace commands {
#define COMMAND(name, summary) int name(int argc, const char* const* argv);
#include "sim/commands.def"
#undef COMMAND
}  // namespace commands

std::span<const Command> all_commands() {
  static constexpr Command kAll[] = {
#define COMMAND(name, summary) {#name, summary, commands::name},
#include "sim/commands.def"
#undef COMMAND
  };
  return kAll;
}

namespace {

std::string usage() {
  std::string text =
      "gradcast forecasts how synchronous data-parallel SGD scales on a cluster,\n"
      "with and without gradient compression.\n"
      "\n"
      "Examples:\n"
      "  gradcast compare                                        the paper's Table 2, forecast\n"
      "  gradcast simulate --model resnet-50 --compressor topk   one iteration, in parts\n"
      "\n"
      "Usage: gradcast <command> [flags]\n"
      "\n";
  for (const Command& command : all_commands()) {
    std::string name(command.name);
    name.resize(10, ' ');
    text += "  " + name + std::string(command.summary) + "\n";
  }
  return text +
         "\n"
         "`gradcast <command> --help` tells its flags. `gradcast --version` tells the version.\n"
         "Exit codes: 0 ok, 1 our failure, 2 usage, 3 bad input data, 4 comparison beyond\n"
         "--max-error, 5 needed device or feature missing, 130 interrupted.\n";
}

int run_command(int argc, const char* const* argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "--version") {
    write_stdout("gradcast " GRADCAST_VERSION "\n");
    return 0;
  }
  if (name == "--help" || name == "-h" || (name == "help" && argc == 2)) {
    write_stdout(usage());
    return 0;
  }
  if (name == "help") {  // `gradcast help simulate`
    const char* const asked[] = {argv[0], argv[2], "--help"};
    return run_command(3, asked);
  }
  std::vector<std::string> known{"help"};
  for (const Command& command : all_commands()) {
    if (command.name == name) return command.run(argc - 1, argv + 1);
    known.emplace_back(command.name);
  }
  if (name.empty()) throw UsageError("a command is missing; see `gradcast --help`");
  const std::string suggestion = did_you_mean(name, known);
  throw UsageError("unknown command '" + name + "'" +
                   (suggestion.empty() ? "; see `gradcast --help`" : suggestion));
}

int complain(const std::string& what, ExitCode code) {
  std::fprintf(stderr, "gradcast: %s\n", what.c_str());
  return static_cast<int>(code);
}

}  // namespace

int run_cli(int argc, const char* const* argv) {
  try {
    return run_command(argc, argv);
  } catch (const Error& error) {
    return complain(error.what(), error.code());
  } catch (const std::exception& error) {
    return complain(std::string("internal error: ") + error.what(), ExitCode::Failure);
  }
}

}  // namespace gradcast
