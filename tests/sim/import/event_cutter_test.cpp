#include "sim/import/kineto/event_cutter.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

struct Cut {
  std::string events;  // the runs, one behind the other
  std::string head;
  bool found = false;
};

Cut cut(const std::string& text, std::size_t block) {
  std::size_t at = 0;
  EventCutter cutter("trace.json", [&]() -> std::string_view {
    const std::string_view next = std::string_view(text).substr(at, block);
    at += next.size();
    return next;
  });
  Cut made;
  for (std::string_view run = cutter.next(); !run.empty(); run = cutter.next()) made.events += run;
  made.head = cutter.head();
  made.found = cutter.found_events();
  return made;
}

}  // namespace

TEST_CASE("events are cut out of an object, wherever its blocks end") {
  const std::string text =
      R"({"a": {"traceEvents": [1]}, "traceEvents": [{"n": "],}\"[{"}, {"m": [1, {}]}], "z": "traceEvents"})";
  for (std::size_t block = 1; block <= text.size(); ++block) {
    const Cut made = cut(text, block);
    CHECK(made.events == R"([{"n": "],}\"[{"}, {"m": [1, {}]}])");
    CHECK(made.head == R"({"a": {"traceEvents": [1]}, "traceEvents": [], "z": "traceEvents"})");
  }
}

TEST_CASE("a list of events is a document too") {
  for (std::size_t block = 1; block < 10; ++block) {
    const Cut made = cut(" [{\"a\": 1},\n{\"b\": [2]}]\n", block);
    CHECK(made.events == "[{\"a\": 1},\n{\"b\": [2]}]");
    CHECK(made.head == " []\n");
  }
  CHECK(cut("[]", 1).events == "[]");
}

TEST_CASE("a document without events has none") {
  const Cut made = cut(R"({"events": [1, 2]})", 3);
  CHECK_FALSE(made.found);
  CHECK(made.events.empty());
}

TEST_CASE("what is cut off, goes on, or nests too deeply is refused") {
  CHECK_THROWS_WITH(cut("", 8), Contains("is empty"));
  CHECK_THROWS_WITH(cut("tensor,elements", 8), Contains("neither '{' nor '['"));
  CHECK_THROWS_WITH(cut(R"({"traceEvents": [{"a": 1})", 8), Contains("is cut off"));
  CHECK_THROWS_WITH(cut(R"({"traceEvents": []} {)", 8), Contains("goes on after the end"));
  CHECK_THROWS_WITH(cut("[" + std::string(200, '['), 8), Contains("nests deeper than 100"));
  CHECK_THROWS_WITH(cut("{\"a\":" + std::string(200, '['), 8), Contains("nests deeper than 100"));
}

TEST_CASE("memory is bounded: an event and a head have a longest length") {
  const std::string blanks(std::size_t{17} << 20, ' ');
  CHECK_THROWS_WITH(cut("[{\"a\": \"" + blanks, 1 << 20), Contains("has an event of more than"));
  CHECK_THROWS_WITH(cut("{\"a\": \"" + blanks, 1 << 20), Contains("around its list of events"));
}
