#include "sim/answers/json_reader.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

Json parsed(const std::string& text) { return parse_json(text, "x.json"); }

std::string refusal(const std::string& text) {
  try {
    parsed(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "none";
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// Lists inside each other, one in the next.
std::string nested(std::size_t depth) { return repeated("[", depth) + repeated("]", depth); }

}  // namespace

TEST_CASE("JSON is read as it is written, with names in their order") {
  const std::string text = R"({"b":[1,-2,2.5,true,null,"x\ny"],"a":{"c":{},"d":[]}})";
  CHECK(parsed(text).dump() == text);
  CHECK(parsed(" 17 ").dump() == "17");
  CHECK(parsed("[]").dump() == "[]");
  CHECK(parsed("18446744073709551615").dump() == "18446744073709551615");
}

TEST_CASE("of a name that stands twice the first counts") {
  CHECK(parsed(R"({"a":1,"a":2})")["a"] == 1);
}

TEST_CASE("what is no JSON is refused with its line and byte") {
  CHECK(refusal("[\n1,\noops]") == "x.json:3: is no whole JSON: byte 6 does not belong there");
  CHECK(refusal("") == "x.json:1: is no whole JSON: byte 1 should go on");
  CHECK(refusal("{\"a\":[1,") == "x.json:1: is no whole JSON: byte 9 should go on");
  CHECK(refusal("1 ]") == "x.json:1: is no whole JSON: byte 3 does not belong there");
  CHECK(refusal("[1]]") == "x.json:1: is no whole JSON: byte 4 does not belong there");
  CHECK(refusal("[\"\xff\"]") == "x.json:1: is no whole JSON: byte 3 does not belong there");
  CHECK(refusal("[1e999]") == "x.json:1: the number 1e999 is too large");
  CHECK_THROWS_WITH(parse_json("[\n}", "a.points", 7),
                    "a.points:8: is no whole JSON: byte 3 "
                    "does not belong there");
}

TEST_CASE("lists that nest deeper than any result of ours are refused") {
  CHECK(refusal(nested(kDeepestJson)) == "none");
  CHECK_THAT(refusal(nested(kDeepestJson + 1)),
             Contains("nests objects and lists deeper than 100"));
  CHECK_THAT(refusal(repeated("{\"a\":", 1'000'000)), Contains("deeper than 100"));
}

TEST_CASE("a document of more values than are read together is refused") {
  const auto list = [](std::size_t values) { return "[0" + repeated(",0", values - 1) + "]"; };
  CHECK(parsed(list(kMostJsonValues - 1)).size() == kMostJsonValues - 1);  // and the list itself
  CHECK_THAT(refusal(list(kMostJsonValues)), Contains("has more than 2500000 values"));
}

TEST_CASE("long texts count as several values, and one that never ends is refused") {
  const std::size_t half = kLongestJsonText / 2;
  CHECK(refusal("\"" + std::string(half, 'x') + "\"") == "none");
  const std::string text = "\"" + std::string(half, 'x') + "\"";
  const std::size_t many = kMostJsonValues / (half / 64) + 1;
  CHECK_THAT(refusal("[1" + repeated("," + text, many) + "]"),
             Contains("more than 2500000 values"));
  // Blocks of a file show how long it is.
  const TemporaryFolder folder;
  BlockReader file(folder.write("t.json", "[\n\"" + std::string(3 * half, 'x') + "\"]"));
  CHECK_THROWS_WITH(read_json(file, {}),
                    Contains("t.json:2: has a text or number of more than 16777216 bytes"));
}

TEST_CASE("items of a list are handed over one by one, and the rest is the document") {
  const TemporaryFolder folder;
  std::vector<std::string> taken;
  std::string seen;
  const auto read = [&](const std::string& text) {
    taken.clear();
    seen.clear();
    BlockReader file(folder.write("t.json", text));
    const JsonLists lists{{"rows", "", "more"}, [&](std::size_t list, Json& item) {
                            taken.push_back(std::to_string(list) + " " + item.dump());
                          }};
    return read_json(file, lists, [&](std::string_view block) { seen += block; }).dump();
  };
  using Taken = std::vector<std::string>;
  const std::string text = R"({"a":{"rows":[1]},"rows":[{"rows":[2]},[3],4],"more":[{}],"b":[5]})";
  CHECK(read(text) == R"({"a":{"rows":[1]},"rows":[],"more":[],"b":[5]})");
  CHECK(taken == Taken{R"(0 {"rows":[2]})", "0 [3]", "0 4", "2 {}"});
  CHECK(seen == text);
  CHECK(read("[[[6]],7]") == "[]");
  CHECK(taken == Taken{"1 [[6]]", "1 7"});
  CHECK(read(R"({"":[8],"rows":{"rows":[9]}})") == R"({"":[8],"rows":{"rows":[9]}})");
  CHECK(taken.empty());
}

TEST_CASE("a list of more values than are read together is handed over item by item") {
  const TemporaryFolder folder;
  const std::size_t values = kMostJsonValues + 10;
  BlockReader file(folder.write("t.json", "[0" + repeated(",0", values - 1) + "]"));
  std::size_t taken = 0;
  read_json(file, {{""}, [&](std::size_t, Json&) { ++taken; }});
  CHECK(taken == values);
}
