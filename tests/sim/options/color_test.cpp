#include "sim/options/color.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;

TEST_CASE("the flag wins, then NO_COLOR, then CLICOLOR_FORCE, then the terminal", "[color]") {
  struct Row {
    ColorChoice flag;
    ColorCircumstances around;  // terminal, TERM, NO_COLOR, CLICOLOR_FORCE
    bool colored;
  };
  constexpr auto kAuto = ColorChoice::Auto;
  constexpr auto kAlways = ColorChoice::Always;
  constexpr auto kNever = ColorChoice::Never;
  const Row rows[] = {
      {kAuto, {true, "xterm", "", ""}, true},    {kAuto, {false, "xterm", "", ""}, false},
      {kAuto, {true, "", "", ""}, true},         {kAuto, {true, "dumb", "", ""}, false},
      {kAuto, {true, "xterm", "1", ""}, false},  {kAuto, {true, "xterm", "0", ""}, false},
      {kAuto, {false, "xterm", "", "1"}, true},  {kAuto, {false, "xterm", "", "0"}, false},
      {kAuto, {true, "xterm", "", "0"}, true},   {kAuto, {false, "dumb", "", "1"}, true},
      {kAuto, {true, "xterm", "1", "1"}, false}, {kAlways, {false, "dumb", "1", "0"}, true},
      {kNever, {true, "xterm", "", "1"}, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.around.terminal, row.around.term, row.around.no_color, row.around.clicolor_force);
    CHECK(is_colored(row.flag, row.around) == row.colored);
  }
}

TEST_CASE("--color is one of three words", "[color]") {
  CHECK(parse_color("auto") == ColorChoice::Auto);
  CHECK(parse_color("always") == ColorChoice::Always);
  CHECK(parse_color("never") == ColorChoice::Never);
  CHECK_THROWS_WITH(parse_color("yes"), "'yes' is not auto, always or never");
}

TEST_CASE("the line above a rule is bold, and nothing else", "[color]") {
  CHECK(with_bold_headers("a  b\n-  --\n1  2\n") == "a  b\n-  --\n1  2\n");
  CHECK(with_bold_headers("model  b\n-----  -\nx      2\n\ntext\nc\n--\n") ==
        "\033[1mmodel  b\033[0m\n-----  -\nx      2\n\ntext\n\033[1mc\033[0m\n--\n");
  CHECK(with_bold_headers("").empty());
  CHECK(with_bold_headers("--\n-- x\n") == "--\n-- x\n");
}
