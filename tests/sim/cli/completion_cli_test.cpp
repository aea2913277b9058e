// One description of each command: everything made from it must name all that a command takes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/completion/completion.hpp"
#include "sim/options/command_info.hpp"
#include "tests/run_program.hpp"

using Catch::Contains;
using namespace gradcast;

namespace {

std::string in_roff(std::string text) {
  for (std::size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

}  // namespace

TEST_CASE("every flag of every command is in its help, its page and every completion", "[cli]") {
  const std::string bash = gradcast_runs("completion", "bash").out;
  const std::string zsh = gradcast_runs("completion", "zsh").out;
  const std::string fish = gradcast_runs("completion", "fish").out;
  const std::string all = gradcast_runs("man").out;
  for (const Command& command : all_commands()) {
    const CommandInfo info = describe(command);
    CAPTURE(info.name);
    CHECK(info.name == command.name);
    CHECK_FALSE(info.examples.empty());
    CHECK_THAT(all, Contains("\\fB" + info.name + "\\fR"));
    CHECK_THAT(bash, Contains("\n    " + info.name + ")\n"));
    CHECK_THAT(zsh, Contains("\n    '" + info.name + ":"));
    CHECK_THAT(fish, Contains(" -f -a " + info.name + " "));
    const Ran page = gradcast_runs("man", info.name.c_str());
    const std::string help = gradcast_runs(info.name.c_str(), "--help").out;
    CHECK(info.help == help);
    for (const FlagInfo& flag : info.flags) {
      CAPTURE(flag.name);
      CHECK_THAT(help, Contains("--" + flag.name));
      CHECK_THAT(page.out, Contains(in_roff("\\fB--" + flag.name + "\\fR")));
      const std::size_t arm = bash.find("\n    " + info.name + ")\n      flags=");
      REQUIRE(arm != std::string::npos);
      CHECK_THAT(" " + bash.substr(arm, bash.find('\n', arm + 1 + info.name.size() + 6) - arm),
                 Contains("--" + flag.name));
      CHECK_THAT(fish, Contains("'__gradcast_is " + info.name + "'" +
                                (flag.letter != 0 ? std::string(" -s ") + flag.letter : "") +
                                " -l " + flag.name + " "));
      const std::size_t zsh_arm = zsh.find("\n    " + info.name + ") _arguments");
      REQUIRE(zsh_arm != std::string::npos);
      CHECK_THAT(zsh.substr(zsh_arm, zsh.find(";;", zsh_arm) - zsh_arm),
                 Contains("--" + flag.name));
    }
  }
}

TEST_CASE("what is known of values is of flags and words that there are", "[cli]") {
  for (const ValueKind& kind : all_value_kinds()) {
    CAPTURE(kind.of);
    bool found = false;
    for (const CommandInfo& command : describe_all())
      found = found || command.words == kind.of || command.find(std::string(kind.of)) != nullptr;
    CHECK(found);
    if (!kind.names.empty()) CHECK_FALSE(names_of_kind(std::string(kind.names)).empty());
  }
}

TEST_CASE("names are those of this build and its data", "[cli]") {
  const auto has = [](const std::string& kind, const std::string& name) {
    const std::vector<std::string> names =
        split_words(gradcast_runs("completion", "--names", kind.c_str()).out, '\n');
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CHECK(has("models", "resnet-50"));
  CHECK(has("traces", "iteration-resnet-50-v100"));
  CHECK(has("clusters", "10gbe-4x4"));
  CHECK(has("compressors", "gaussian"));
  CHECK(has("collectives", "ring-all-reduce"));
  CHECK(has("devices", "h200"));
  CHECK(has("topics", "exit-codes"));
  CHECK(has("pages", "formats"));
  refuses({"completion", "--names", "model"}, 2, "did you mean 'models'?");
  refuses({"completion", "bsh"}, 2, "unknown shell 'bsh'; did you mean 'bash'?");
  refuses({"completion"}, 2, "the shell is missing: bash, zsh or fish");
  refuses({"man", "format"}, 2, "did you mean 'formats'?");
}
