#include "sim/base/shell_word.hpp"

#include <catch2/catch.hpp>
#include <cstdio>

using namespace gradcast;

namespace {

/// The word as bash reads it; it must be one.
std::string as_bash_reads(const std::string& word) {
  const std::string command = "bash -c " + in_shell_quotes("printf '<%s>' " + word);
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int letter = 0; (letter = std::fgetc(pipe)) != EOF;) text += static_cast<char>(letter);
  CHECK(::pclose(pipe) == 0);
  return text;
}

}  // namespace

TEST_CASE("a shell reads every text back as one word", "[shell_word]") {
  for (const std::string text :
       {"my/models/a.csv", "", "with blank", "o'; touch PWN; '", "$(touch PWN)", "`id`", "~/x",
        "a\\b", "line\nbreak", "\x1b[31m'\\", "é"})
    CHECK(as_bash_reads(shell_word(text)) == "<" + text + ">");
}

TEST_CASE("a plain word stays as it is, and no control character is left", "[shell_word]") {
  CHECK(shell_word("my/models/a-1.csv") == "my/models/a-1.csv");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("a\nb") == "$'a\\x0ab'");
}
