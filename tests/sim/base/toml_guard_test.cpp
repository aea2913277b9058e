// Input that toml++ cannot handle never reaches it. Without the guard such input ends the program:
// the stack overflows or, in builds with assertions, one fails.
#include "sim/base/toml_guard.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/toml_file.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

void refused(const std::string& content, const std::string& says) {
  CAPTURE(content.substr(0, 100));
  CHECK_THROWS_WITH(load_toml({"plan.toml", content}), Contains(says));
  CHECK_THROWS_AS(load_toml({"plan.toml", content}), DataError);
}

std::string repeated(const std::string& word, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += word;
  return text;
}

}  // namespace

TEST_CASE("a dotted key or name of many parts is refused, not followed until the stack is over",
          "[toml]") {
  const std::string many = repeated("a.", 60'000);
  const std::string says =
      "plan.toml:2: this is not TOML that gradcast reads: a name has more "
      "than 8 parts between dots";
  refused("x = 1\n" + many + "b = 1\n", says);
  refused("x = 1\n[" + many + "b]\n", says);
  refused("x = 1\n[[" + many + "b]]\n", says);
  refused("x = 1\n" + repeated("'a' . ", 60'000) + "b = 1\n", says);
  refused("x = 1\ny = {z = 1, " + many + "b = 1}\n", says);
  CHECK(load_toml({"plan.toml", "a.b.c.d.e.f.g.h = 1.5\n"}).entries.at(0).values ==
        std::vector<std::string>{"1.5"});
}

TEST_CASE("lists and inline tables in each other are refused beyond a depth", "[toml]") {
  refused("a = " + repeated("[", 100'000) + "\n", "plan.toml:1: this is not TOML that gradcast");
  refused("a = " + repeated("{b = ", 100'000) + "\n", "stand in each other more than 8 deep");
  refused("a = [\n" + repeated("[\n", 100'000), "plan.toml:9: ");
}

// toml++ has no defined behaviour for most letters that are not ASCII outside of quotes and
// comments, U+00E9 and U+FEFF among them, nor in texts over several lines.
TEST_CASE("letters beyond ASCII stand in quotes and comments only", "[toml]") {
  refused("a=\xEF\xBB\xBF", "plan.toml:1: this is not TOML that gradcast reads: a letter that is");
  refused("a = 1\nb = 1\xC3\xA9\n", "plan.toml:2: ");
  for (const char* word : {"a=4Y\"\xC3\xA9\"\n", "a = 1.\"\xC3\xA9\"\n", "a = [\n1.'\xC3\xA9']\n"})
    refused(word, "is no number, not true and not false; a text needs quotes");
  CHECK_NOTHROW(load_toml({"plan.toml", "'x'.\"\xC3\xA9\" = 1\n[y.'\xC3\xA9']\nz = ['a','b']\n"}));
  refused("\xEF\xB8\x8F = 1\n", "a letter that is not ASCII stands outside of quotes");
  refused("a = \"\"\"\\\n\xEF\xB8\x8F\"\"\"\n", "a text over several lines");
  refused("a = '''b'''\n", "a text over several lines");
  const TomlFile file = load_toml(
      {"plan.toml",
       "# \xC3\xA9\xEF\xBB\xBF\na = \"\xC3\xA9\xEF\xB8\x8F\\\"#\" # x\nb = '\xE2\x82\xAC'\n"});
  CHECK(file.entries.at(0).values == std::vector<std::string>{"\xC3\xA9\xEF\xB8\x8F\"#"});
  CHECK(file.entries.at(1).values == std::vector<std::string>{"\xE2\x82\xAC"});
}

TEST_CASE("bytes that are not UTF-8 are refused wherever they stand", "[toml]") {
  const std::string says =
      "plan.toml:2: this is not TOML that gradcast reads: the bytes here are "
      "not UTF-8";
  for (const char* bytes : {"\xA9", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x80\x80\xAF",
                            "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xE2\x82"}) {
    refused(std::string("a = 1\n# ") + bytes + "\n", says);
    refused(std::string("a = 1\nb = '") + bytes + "'\n", says);
    refused(std::string("a = 1\nb = \"\\") + bytes + "\"\n", says);
    refused(std::string("a = 1\nb") + bytes + " = 1\n", says);
  }
  refused("a = 1\nb = \x01\n", "plan.toml:2: this is not TOML that gradcast reads: a control");
}

// Each of these fails an assertion of toml++ 3.3: a name that does not begin, a word that it cannot
// step back over, a time of day that is over after one digit.
TEST_CASE("what toml++ steps over its own feet with is refused", "[toml]") {
  for (const char* header : {"[\na = 1\n", "[ .a]\n", "[[=]]\n", "[", "[[  "})
    refused(header, "plan.toml:1: this is not TOML that gradcast reads: the name of a table");
  refused("a = 0" + repeated("1", 200) + "\n", "a word without quotes has more than 100 letters");
  refused("a = 2[\"\xc9\x9e\"\n", "the end of the line is due, and here is '['");
  refused("a = \"b\n", "a quote is opened and not closed");
  refused("a = 1 1#\n", "the end of the line is due, and here is '1'");
  refused("# plan\nmodjobs=2\n[\na={b=0el = [\"resort.x]\n", "plan.toml:3: ");
  refused("a = [}.b\nc = 1\n", "plan.toml:1: this is not TOML that gradcast reads: a value is due");
}

TEST_CASE("a plan is not as long as a book, for toml++ looks through all tables again and again",
          "[toml]") {
  refused(repeated("# what I run\n", 100'000),
          "has 1300000 bytes; a plan or config file has 1048576 at most");
}

TEST_CASE("an open bracket is named where it stands, not where depth runs out", "[toml]") {
  refused("[a\n" + repeated("[b]\n", 100),
          "plan.toml:1: this is not TOML that gradcast reads: ']' is missing");
}

TEST_CASE("all of TOML that a plan needs is read: numbers, lists over lines, tables in a line",
          "[toml]") {
  const TomlFile file = load_toml({"plan.toml",
                                   "a = [ # first\n  1_000, 0x1F,\r\n\n  -2.5e-1, # last\n]\n"
                                   "b = { c.d = 'x', \"e f\" = true }\r\n[ g . 'h' ]\ni=[]"});
  REQUIRE(file.entries.size() == 4);
  CHECK(file.entries[0].values == std::vector<std::string>{"1000", "31", "-0.25"});
  CHECK(file.entries[1].table == "b.c");
  CHECK(file.entries[2].values == std::vector<std::string>{"true"});
  CHECK(file.entries[3].table == "g.h");
  for (const char* number : {"0x", "1__0", "_1", "1_", "01", "1.", ".5", "1e", "0b2", "+-1", "++1"})
    refused(std::string("a = ") + number + "\n", "is no number");
  for (const char* end : {"a", "a =", "a = [1", "a = [1 2]", "a = {b = 1", "a = {b = 1,}", "[a",
                          "a.", "a = 1 b = 2", "= 1", "a = ]"})
    refused(end, "plan.toml:1: this is not TOML that gradcast reads: ");
}
