// Colours on the program's streams. They are pipes and files here, so that none is the rule.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;

namespace {

constexpr const char* kEscape = "\033[";

/// The program with variables set: `NO_COLOR=1`.
Ran with_variables(std::vector<std::string> variables, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"env", "-u", "NO_COLOR", "-u", "CLICOLOR_FORCE"};
  words.insert(words.end(), variables.begin(), variables.end());
  words.emplace_back(GRADCAST_PROGRAM);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_process(words);
}

}  // namespace

TEST_CASE("tables have bold headers where colours are asked for", "[cli]") {
  CHECK_THAT(with_variables({}, {"selftest", "--help"}).out, !Contains(kEscape));
  const std::vector<std::string> command{"config", "simulate"};
  const Ran plain = with_variables({}, command);
  CHECK_THAT(plain.out + plain.err, !Contains(kEscape));
  const Ran forced = with_variables({"CLICOLOR_FORCE=1"}, command);
  CHECK_THAT(forced.out, Catch::StartsWith("\033[1mcommand ") && Contains("\033[0m\n-------"));
  CHECK_THAT(forced.err, Catch::StartsWith("\033[1mgradcast:\033[0m "));
  CHECK_THAT(with_variables({"CLICOLOR_FORCE=1", "NO_COLOR=1"}, command).out, !Contains(kEscape));
  CHECK_THAT(with_variables({"NO_COLOR=1"}, {"config", "simulate", "--color", "always"}).out,
             Contains(kEscape));
  CHECK_THAT(with_variables({"CLICOLOR_FORCE=1"}, {"config", "simulate", "--color=never"}).out,
             !Contains(kEscape));
  CHECK_THAT(with_variables({"GRADCAST_COLOR=always"}, command).out, Contains(kEscape));
}

TEST_CASE("errors are red where colours are asked for, whichever stage finds them", "[cli]") {
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"simulat", "--color=always"},
           {"simulate", "--no-such", "--color", "always"},
           {"simulate", "--model", "none", "--color", "always"}}) {
    const Ran ran = with_variables({"NO_COLOR=1"}, wrong);
    CHECK(ran.exit_code == 2);
    CHECK_THAT(ran.err, Catch::StartsWith("\033[1;31mgradcast:\033[0m "));
  }
  refuses({"list", "--color", "yes"}, 2, "--color: 'yes' is not auto, always or never");
}

TEST_CASE("data and files are never coloured, and results do not name colours", "[cli]") {
  TemporaryFolder folder;
  const std::string file = (folder.path / "list.txt").string();
  for (const char* format : {"csv", "json"}) {
    const Ran ran = gradcast_runs("config", "simulate", "--color", "always", "--format", format);
    CHECK_THAT(ran.out, !Contains(kEscape) && !Contains("always"));
  }
  CHECK(gradcast_runs("config", "simulate", "--color", "always", "-o", file.c_str()).exit_code ==
        0);
  std::ifstream stream(file);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  CHECK_THAT(content, Catch::StartsWith("command ") && !Contains(kEscape));
}
